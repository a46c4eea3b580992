"""URLs of PostgreSQL databases that stand in files that many read: they hold no password.

*Privacy:* a password comes from the environment or ``~/.pgpass``; the text of a URL that may hold
one is never repeated.
"""

import re
from urllib.parse import parse_qsl, urlsplit

from confide.errors import ContractError

_SCHEMA = re.compile(r"[a-z][a-z0-9_]{0,40}")
_SECRET = {"password", "sslpassword", "passfile", "options"}


def require_public_url(url: str, *, where: str) -> None:
    """Refuse what is no URL of a database, or says more than where it is and who connects.

    Args:
        url: ``postgresql://user@host:port/database?sslmode=verify-full``, without a password.
        where: The section of the file, for messages.

    Raises:
        ContractError: Then; the text is not repeated.
    """
    try:
        parts = urlsplit(url)
        # to the server's library a # is a sign as any other: what is after it may be a password
        host, secret = parts.netloc, parts.password is not None or "#" in url
        words = {name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    except ValueError:
        parts, host, secret, words = urlsplit(""), "", False, set()
    if secret or words & _SECRET or ":" in host.rpartition("@")[0]:
        raise ContractError(
            f"{where} → url: a password, or where it is, does not belong in a file that is read.",
            hint="Write postgresql://user@host/database; give PGPASSWORD or ~/.pgpass.",
        )
    if parts.scheme not in {"postgresql", "postgres"} or not parts.path.strip("/"):
        raise ContractError(
            f"{where} → url: expected the URL of a PostgreSQL database.",
            hint="Write postgresql://user@host/database.",
        )


def require_schema_name(name: str, *, where: str, example: str, key: str = "schema-name") -> None:
    """Refuse what is no plain name of a schema.

    Raises:
        ContractError: Then.
    """
    if not _SCHEMA.fullmatch(name):
        raise ContractError(
            f"{where} → {key}: expected a-z, 0-9 and _, got {name[:40]!r}.",
            hint=f"Write {key}: {example}.",
        )

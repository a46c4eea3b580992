"""The public keys that a reader trusts."""

from pathlib import Path

from confide.errors import VerificationError
from confide.regular_file import read_text


def pinned_keys(path: Path) -> list[str]:
    """Return the public keys of a signing.pub or signing.old.pub, one a line.

    Raises:
        VerificationError: If it cannot be read as that.
    """
    try:
        return read_text(path, encoding="ascii").split() or [""]
    except FileNotFoundError:
        raise VerificationError(
            f"{path.name} is missing.", hint="Give the signing.pub that the issuer handed you."
        ) from None
    except (OSError, UnicodeDecodeError):
        raise VerificationError(
            f"{path.name} cannot be read as a public key.",
            hint="Give the signing.pub that the issuer handed you.",
        ) from None


def pinned_key(keys: list[str], *, signer: object) -> str:
    """Return the pinned key that signed, or the first one if none of them did."""
    return next((key for key in keys if key == signer), keys[0])

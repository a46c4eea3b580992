"""Spark Connect: a session on a driver elsewhere, over gRPC; no Java is needed here.

*Privacy:* what the server logs and keeps is its operator's affair, as with a cluster: it sees rows.
A failure is its class alone.
"""

import contextlib
import importlib.util
import warnings
from collections.abc import Iterator
from typing import Any

from confide.errors import ConfideError, ContractError, MissingExtraError

REMOTE = "sc://"
_SESSION = "session_id"
_CLIENT = ("pyspark", "grpc", "grpc_status", "pandas", "zstandard")


def connected(url: str) -> Any:
    """Return a new session of a server of Spark Connect.

    Args:
        url: Such as ``sc://host:15002/;use_ssl=true;token=…``; it is not repeated.

    Raises:
        MissingExtraError: If what speaks to servers is absent.
        ContractError: If the server does not answer, or the URL names a session: what runs in one
            that others have may change what is read here.
    """
    if any(part.partition("=")[0].strip().lower() == _SESSION for part in url.split(";")):
        raise ContractError(
            f"The URL of a server of Spark Connect may not name a session ({_SESSION}).",
            hint=f"Leave {_SESSION} out: each data set has a session of its own.",
        )
    for library in _CLIENT:
        if importlib.util.find_spec(library) is None:
            raise MissingExtraError(library, extra="spark-connect")
    session = None
    with without_messages() as failed, without_remarks():
        try:
            from pyspark.sql.connect.session import SparkSession
        except SystemExit:  # it takes a program that is no file for a test of its own
            raise ImportError from None
        session = SparkSession.builder.remote(url).create()
        session.version  # noqa: B018 — asks the server
    if failed or session is None:
        hint = "Check the URL, and that the server is of PySpark 4 or later."
        if failed and failed[0].endswith(("ImportError", "Warning")):  # it looks once a process
            hint = "PySpark was imported where warnings are errors, or its libraries are too old: "
            hint += "start a new process in which warnings are none."
        raise ContractError(
            f"The server of Spark Connect cannot be used ({''.join(failed)}).", hint=hint
        )
    return session


def is_remote(session: Any) -> bool:
    """Return whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


@contextlib.contextmanager
def without_messages() -> Iterator[list[str]]:
    """Collect the class of a failure; its message and its chain may print cells."""
    failed: list[str] = []
    try:
        yield failed
    except ConfideError:
        raise
    except Exception as error:  # noqa: BLE001 — whatever a driver raises may print a cell
        failed.append(type(error).__name__)


@contextlib.contextmanager
def without_remarks() -> Iterator[None]:
    """Begin with PySpark without its remark on pandas, through which no result passes here."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="PySpark does not yet fully support", category=FutureWarning
        )
        yield

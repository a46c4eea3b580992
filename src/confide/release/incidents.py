"""The details of a failed release, kept where only the steward can read them.

*Privacy:* a failure after reading began may depend on the data, so its text goes nowhere else.
"""

import datetime as dt
import os
import traceback
from pathlib import Path


def log_incident(log: Path, incident: str, failure: BaseException) -> None:
    """Append a failure to the log, made with mode 600."""
    text = "".join(traceback.format_exception(failure))
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        os.write(file, f"{now} incident {incident}\n{text}\n".encode())
    finally:
        os.close(file)

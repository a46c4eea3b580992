"""The border between errors and people: one line, a hint, an exit code; never a traceback.

*Privacy:* a deliberate error says what declared facts say.  Any other is a bug: its text, which
might hold a value, goes to a local log that only this user can read, and a random id is shown.

=====  ======================================================
exit   meaning
=====  ======================================================
0      done
1      bug, or a release that failed after it was charged
2      usage: an option, a path, a missing extra
3      policy refuses
4      approval missing
5      budget would be exceeded
6      verification failed
7      input breaks its contract
8      outage: no way to the ledger, a full disk, or a run over sites that ended; run it again
130    interrupted
=====  ======================================================
"""

import errno
import os
import sqlite3
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from confide.cli.output import AS_JSON, Output
from confide.cli.streams import Stream, unfailing
from confide.errors import (
    ApprovalMissingError,
    BudgetExhaustedError,
    ConfideError,
    EngineError,
    LedgerFrozenError,
    LedgerUnreachableError,
    MessageRefusedError,
    MissingExtraError,
    PolicyError,
    ReleaseFailedError,
    RoundAbortedError,
    VerificationError,
)

UsageError: Any = typer.BadParameter.__mro__[1]  # click's, or the click inside typer

BUG, USAGE, POLICY, APPROVAL, BUDGET, VERIFICATION, CONTRACT, OUTAGE = 1, 2, 3, 4, 5, 6, 7, 8
INTERRUPTED = 130


def exit_code(error: ConfideError) -> int:
    """Return the exit code that a deliberate error has.

    Example:
        >>> exit_code(PolicyError("The caps differ."))
        3
    """
    match error:
        case BudgetExhaustedError():
            return BUDGET
        case ApprovalMissingError():
            return APPROVAL
        case PolicyError():
            return POLICY
        case VerificationError() | LedgerFrozenError() | MessageRefusedError():
            return VERIFICATION
        case MissingExtraError():
            return USAGE
        case ReleaseFailedError() | EngineError():
            return BUG
        case LedgerUnreachableError() | RoundAbortedError():
            return OUTAGE
        case _:
            return CONTRACT


class _InterruptedError(Exception):
    """An interrupt, which the framework would end without a word; its text is what was charged."""


class Border(TyperGroup):
    """The group of commands; every error ends here."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt leaves it as an error of ours."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise _InterruptedError(_noted(stop)) from None

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run one command line and exit."""
        del standalone_mode
        words = list(sys.argv[1:] if args is None else args)
        out = Output(json=AS_JSON in words)
        with unfailing() as (result, _):
            try:
                code = super().main(
                    args=words,
                    prog_name=prog_name or "confide",
                    complete_var=complete_var,
                    standalone_mode=False,
                    windows_expand_args=windows_expand_args,
                    **extra,
                )
            except UsageError as error:
                code = _usage(error, out=out)
            except ConfideError as error:
                code = _refused(error, out=out)
            except _InterruptedError as stop:
                out.note(f"Interrupted. {stop}".strip())
                code = INTERRUPTED
            except (KeyboardInterrupt, typer.Abort):
                out.note("Interrupted.")
                code = INTERRUPTED
            except OSError as error:
                code = _file(error, out=out)
            except sqlite3.OperationalError as error:
                code = _ledger_file(error, out=out)
            except Exception as error:  # noqa: BLE001 - the one place
                code = _bug(error, out=out)
            code = _unheard(result, code=code if isinstance(code, int) else 0, out=out)
        sys.exit(code)


def _unheard(result: Stream, *, code: int, out: Output) -> int:
    """Say that the result could not be printed; the reader of a pipe that went away knows."""
    result.flush()
    if result.lost is None or result.lost.errno == errno.EPIPE:
        return code
    out.error(
        f"The result could not be printed: {os.strerror(result.lost.errno or errno.EIO)}.",
        kind="FileError",
        hint="What the command did is done; to print a release again costs nothing.",
        code=code or USAGE,
    )
    return code or USAGE


def _noted(error: BaseException) -> str:
    """Return what was done before an error, such as a charge; the rooms below add it as notes."""
    return " ".join(getattr(error, "__notes__", ()))


def _usage(error: Any, *, out: Output) -> int:
    path = error.ctx.command_path if error.ctx else "confide"
    message = " ".join(error.format_message().split())  # click breaks lists of choices in lines
    out.error(message, kind="UsageError", hint=f"Run: {path} --help", code=USAGE)
    return USAGE


def _refused(error: ConfideError, *, out: Output) -> int:
    code = exit_code(error)
    message = str(error).removesuffix(error.hint).strip()
    hint = f"{error.hint} {_noted(error)}".strip()
    out.error(message, kind=type(error).__name__, hint=hint, code=code)
    return code


def _file(error: OSError, *, out: Output) -> int:
    name = Path(os.fsdecode(error.filename)).name if error.filename else "a file"
    reason = os.strerror(error.errno) if error.errno else "it cannot be used"
    done = _noted(error)
    full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    code = OUTAGE if full or done else USAGE
    hint = "Make room on the disk." if full else "Check the path and its permissions."
    out.error(
        f"Cannot use {name}: {reason}.", kind="FileError", hint=f"{hint} {done}".strip(), code=code
    )
    return code


def _ledger_file(error: sqlite3.OperationalError, *, out: Output) -> int:
    """Say what SQLite says of its file: a full disk, a lock; these texts hold no value."""
    match error.sqlite_errorcode & 0xFF:  # the kind, whatever the case of it
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            mend = "Another program holds it: end that"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            mend = "Check its permissions, its folder's, and that its path is below 500 characters"
        case _:
            mend = "Make room on its disk, and see that its folder may be written to"
    out.error(
        f"The ledger's file cannot be used: {error}.",
        kind="FileError",
        hint=f"{mend}, then run the same again; confide ledger show says what is charged. "
        f"{_noted(error)}".strip(),
        code=OUTAGE,
    )
    return OUTAGE


def _bug(error: Exception, *, out: Output) -> int:
    incident = uuid.uuid4().hex[:12]
    log = log_file()
    try:
        _log(error, incident=incident, log=log)
        hint = f"Details, which may hold data, are in {log}; do not mail that file."
    except OSError:
        hint = f"{log} could not be written, so no details were kept."
    hint = f"{hint} {_noted(error)}".strip()
    out.error(f"This is a bug (incident {incident}).", kind="Bug", hint=hint, code=BUG)
    return BUG


def log_file() -> Path:
    """Return where bugs are logged: ``$XDG_STATE_HOME/confide/incidents.log``, mode 0600."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "confide" / "incidents.log"


def _log(error: Exception, *, incident: str, log: Path) -> None:
    from confide.release.site.incidents import write_incident

    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_incident(log, incident, error)

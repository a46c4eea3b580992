"""Every error Confide raises on purpose, in one tree.

::

    ConfideError
    ├── InvalidParameterError (ValueError)    a number or name is outside its domain
    ├── ContractError (ValueError)            a file, schema or plan breaks its contract
    │   ├── UnknownNameError (KeyError)       a name that was not declared; suggests the nearest
    │   ├── UnboundedError                    a bound is missing, so no finite noise would do
    │   └── NotAFileError (OSError)           a pipe, device or folder where a file is needed
    ├── UnsupportedError (TypeError)          an unknown kind of thing (fail closed)
    ├── MissingExtraError (ImportError)       an optional library; says which pip install brings it
    ├── PolicyError (PermissionError)
    │   ├── BudgetExhaustedError              carries requested, remaining, difference, cap
    │   ├── ApprovalMissingError              carries the roles that have not approved
    │   ├── MismatchError                     another unit, adjacency or measure than the ledger's
    │   └── BurnedError                       the request died while reading: it stays charged
    ├── LedgerFrozenError (RuntimeError)      the chain or its anchor does not match
    ├── LedgerUnreachableError (ConnectionError)  its database or its turn cannot be reached
    ├── EngineError (RuntimeError)            reading failed; names the class of failure, never data
    ├── ReleaseFailedError (RuntimeError)     after reading began: a constant text
    ├── VerificationError (ValueError)        a certificate or an output is not what it says
    ├── MessageRefusedError (ValueError)      a message of a federation that is set aside
    └── RoundAbortedError (RuntimeError)      a sum over sites ended without a result

Errors raised before data are read are detailed and cost nothing.  After reading has begun there is
one error, :class:`ReleaseFailedError`, whose text is constant.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction


class ConfideError(Exception):
    """Base of every deliberate error; ``hint`` names the fix."""

    file = ""
    """Name of the file that it is about; "" where no file was read."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.hint = hint


@contextmanager
def in_file(name: str) -> Iterator[None]:
    """Put a file's name before a refusal of what it says, unless it names a file already.

    Example:
        >>> with in_file("study.yaml"), concerning("ages"):
        ...     raise ContractError("Groups need public labels.")
        Traceback (most recent call last):
        ...
        confide.errors.ContractError: study.yaml: Statistic 'ages': Groups need public labels.
    """
    try:
        yield
    except ConfideError as error:
        if not error.file and name:
            error.file, message = name, str(error)
            if name not in message:
                error.args = (f"{name}: {message}",)
        raise


@contextmanager
def concerning(name: str, *, kind: str = "Statistic") -> Iterator[None]:
    """Put the name of what is declared before a refusal that does not name it.

    Example:
        >>> with concerning("ages"):
        ...     raise ContractError("Groups need public labels.")
        Traceback (most recent call last):
        ...
        confide.errors.ContractError: Statistic 'ages': Groups need public labels.
    """
    try:
        yield
    except ConfideError as error:
        message = str(error)
        if repr(name) not in message.removesuffix(error.hint):
            error.args = (f"{kind} {name!r}: {message}",)
        raise


class InvalidParameterError(ConfideError, ValueError):
    """A number or name is outside its domain."""


class ContractError(ConfideError, ValueError):
    """A file, schema or plan breaks its contract."""


class UnknownNameError(ContractError, KeyError):
    """A name that was not declared."""

    def __init__(self, kind: str, name: str, *, known: Iterable[str], hint: str = "") -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        told = f"Did you mean {near[0]!r}?" if near else f"Declared: {', '.join(names) or 'none'}."
        super().__init__(f"Unknown {kind} {name!r}.", hint=hint or told)
        self.name = name

    __str__ = Exception.__str__  # KeyError would print the repr


class UnboundedError(ContractError):
    """A clip bound, contribution bound or category list is missing."""


class NotAFileError(ContractError, OSError):
    """Something that is no regular file, or is too large, stands where one is needed."""


class UnsupportedError(ConfideError, TypeError):
    """An unknown kind of thing; refused rather than guessed."""


class MissingExtraError(ConfideError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, *, extra: str) -> None:
        super().__init__(
            f"{library} is not installed.",
            hint=f"Run, in the folder of Confide's source: pip install '.[{extra}]'",
        )
        self.extra = extra


class PolicyError(ConfideError, PermissionError):
    """The release is not allowed, for a reason that depends on declared facts only."""


class BudgetExhaustedError(PolicyError):
    """A cap would be exceeded; nothing was charged.

    Attributes:
        requested: What the plan costs, in the unit of the cap.
        remaining: What the cap still holds.
        difference: requested − remaining.
        cap: Name of the cap.
        available: First day on which more may be there, as 2028-01-01; "" when none is known.
    """

    def __init__(
        self,
        message: str,
        *,
        cap: str,
        requested: Fraction,
        remaining: Fraction,
        hint: str = "",
        available: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.cap = cap
        self.available = available
        self.requested = requested
        self.remaining = remaining
        self.difference = requested - remaining


class ApprovalMissingError(PolicyError):
    """The policy wants approvals that are not there; nothing was charged.

    Attributes:
        missing: Roles that have not approved.
    """

    def __init__(self, message: str, *, missing: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.missing = missing


class MismatchError(PolicyError):
    """The plan's unit, adjacency or measure is not the ledger's."""


class BurnedError(PolicyError):
    """The request died after reading began; it stays charged and a new request key is needed."""


class LedgerFrozenError(ConfideError, RuntimeError):
    """The ledger does not match its hash chain or anchor."""


class LedgerUnreachableError(ConfideError, ConnectionError):
    """The ledger cannot be reached, was lost, or is held up; a charge that was made stays."""


class EngineError(ConfideError, RuntimeError):
    """Reading failed; the engine's own message is dropped, because it may print cells.

    Attributes:
        failure: Class of the failure, for the steward's log.
    """

    def __init__(self, failure: str) -> None:
        super().__init__(f"The engine failed while reading ({failure}).")
        self.failure = failure


class ReleaseFailedError(ConfideError, RuntimeError):
    """Something failed after reading began.  The charge stays; the text carries no data."""

    def __init__(self, incident: str) -> None:
        super().__init__(
            f"The release failed after reading began (incident {incident}). The charge stays.",
            hint="The steward can find the incident in the local log.",
        )
        self.incident = incident


class VerificationError(ConfideError, ValueError):
    """A certificate or an output is not what it says."""


class MessageRefusedError(ConfideError, ValueError):
    """A message between members of a federation is not what it has to be; it changed nothing."""


class RoundAbortedError(ConfideError, RuntimeError):
    """A sum over sites ended without a result; what was charged stays."""

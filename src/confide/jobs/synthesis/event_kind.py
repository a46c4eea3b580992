"""One kind of event of a synthetic patient: which of their values say how its rows are made.

Events of a kind are rows of one declared table with public codes.  Of each patient the model knows
the date of the first, how many there are up to a bound, the days to the last, the days that one
lasts, a number that it measured, and the days from the first event of other kinds to the first of
this one: per-patient values in public bins, as any study may ask for them.

*Privacy:* a kind names declared columns and codes and nothing else.

*Utility:* what lies between the first and the last event is made up.
"""

from dataclasses import dataclass

from confide.errors import ContractError
from confide.tables.by_code import Accepted

MOST_OF_A_KIND = 20
"""Most events of a kind that a patient may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """Events of one kind.

    Attributes:
        name: Of the kind.
        table: Declared table of which they are rows.
        date: Its date, that orders them.
        first: Column of the job: date of the first; a patient without one has no event.
        codes: Of each source column, the codes of which a row has one.
        rows: Column of how many, up to a bound; "" where there is one at most.
        days: Column of the days from the first to the last; "" likewise.
        end: Date of the table on which an event ends; "" where none is written.
        stay: Column of the days until then.
        number: Number of the table; "" where none is written.
        value: Column of that number, as the last event had it.
        after: Kinds, named before, from the first of which days are counted.
        later: Column of those days.
    """

    name: str
    table: str
    date: str
    first: str
    codes: tuple[Accepted, ...] = ()
    rows: str = ""
    days: str = ""
    end: str = ""
    stay: str = ""
    number: str = ""
    value: str = ""
    after: tuple[str, ...] = ()
    later: str = ""

    def __post_init__(self) -> None:
        pairs = (
            (self.rows, self.days),
            (self.end, self.stay),
            (self.number, self.value),
            (self.after, self.later),
        )
        if any(bool(one) != bool(other) for one, other in pairs):
            raise ContractError(f"Events {self.name!r}: two of their settings belong together.")

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the job that say how its rows are made."""
        all_of_them = (self.first, self.rows, self.days, self.stay, self.value, self.later)
        return tuple(name for name in all_of_them if name)


def require_in_order(
    kinds: tuple[EventKind, ...], *, columns: tuple[str, ...], most_rows: int
) -> None:
    """Refuse kinds of a name twice, of columns that are not there, or after one that is not.

    Args:
        kinds: In order.
        columns: Of the table.
        most_rows: Of a patient; one, where there are events.

    Raises:
        ContractError: Naming it.
    """
    known: set[str] = set()
    for kind in kinds:
        if kind.name in known:
            raise ContractError(f"Events {kind.name!r} are named twice.")
        for name in kind.columns:
            if name not in columns:
                raise ContractError(f"Events {kind.name!r}: no column is called {name!r}.")
        for name in kind.after:
            if name not in known:
                raise ContractError(
                    f"Events {kind.name!r} come after {name!r}, which are not named before.",
                    hint="Name what comes first above what comes after it.",
                )
        known.add(kind.name)
    if kinds and most_rows != 1:
        raise ContractError("Events are made of patients, of whom each is one row.")

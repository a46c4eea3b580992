"""The text of a drafted dataset.yaml: columns with kinds, codes and labels, and places to fill in.

Bounds are left out where no dictionary states them: such a draft is refused, by the column's name,
until somebody writes them.  They are public facts, and never what the data hold.

*Privacy:* nothing here comes from rows.
"""

import datetime as dt
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HEAD = """\
# A draft of dataset.yaml, from {origin}; no row was looked at.
# Write what is missing, from the code book and never from the data; delete what no study needs, and
# set the caps of your policy. Which column identifies a person is a guess: look at protects → id.

dataset: {{id: {id}, lineage: {id}, snapshot: "1"}}
source: {{kind: {kind}, path: {path}}}
protects: {{unit: patient, id: {person}, adjacency: add-remove}}
accounting: {{measure: mixed, delta: 1e-6}}
caps: {{release: {{epsilon: 1}}, calendar-year: {{epsilon: 3}}, lifetime: {{epsilon: 10}}}}
issuer: {{organisation: "", contact: ""}}

tables:
  {table}:
    from: {file}
"""
_TO_WRITE = "    # write lower, upper, step and unit: public facts"
_IDS = (
    re.compile(r"(?:u?subj(?:ect)?|patient|person|record|participant|proband|fall|case|study)_?"
               r"(?:id|nr|no|num(?:mer|ber)?)"),
    re.compile(r"p?id|pat_?(?:id|nr)|pseudonym"),
    re.compile(r".*_id"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A column of a draft.

    Attributes:
        source: Its name in the file.
        kind: As in dataset.yaml.
        label: In words; "" for none.
        codes: Pairs of a code and its label, of a category.
        lower: Bound, as text; "" where none is known.
        upper: Bound, as text.
        step: Of a number with places, as text.
        remark: What else is to be known.
    """

    source: str
    kind: str
    label: str = ""
    codes: tuple[tuple[str, str], ...] = ()
    lower: str = ""
    upper: str = ""
    step: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedTable:
    """What a draft is of.

    Attributes:
        origin: What it was made from, in words.
        kind: Of the source.
        folder: Of the file.
        file: Its name.
        person: Column that identifies a person.
        columns: All others.
        lines: Of the table, such as where it stands in its workbook.
        left_out: Names of columns that are no part of it, with why.
    """

    origin: str
    kind: str
    folder: str
    file: str
    person: str
    columns: tuple[Drafted, ...]
    lines: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def draft_text(table: DraftedTable, *, since: dt.date, until: dt.date) -> str:
    """Return the text of a drafted dataset.yaml.

    Args:
        table: What it is of.
        since: First day of events, where no dictionary states one.
        until: Last day.
    """
    name = plain_key(table.file.split(".")[0]) or "rows"
    head = _HEAD.format(
        origin=table.origin,
        id=name,
        kind=table.kind,
        path=_text(table.folder),
        person=_text(table.person),
        table=name,
        file=_text(table.file),
    )
    lines = [*(f"    {line}" for line in table.lines), "    columns:"]
    taken: set[str] = set()
    for column in table.columns:
        lines += _column(column, taken=taken, since=since, until=until)
    if not table.columns:
        lines[-1] += " {}"
    lines += [f"    # left out: {name} ({why})" for name, why in table.left_out]
    return head + "".join(f"{line}\n" for line in lines)


def person_among(names: Sequence[str]) -> str:
    """Return the column that most likely identifies a person.

    Example:
        >>> person_among(["visit", "Patient_ID", "sex"])
        'Patient_ID'
    """
    for pattern in _IDS:
        for name in names:
            if pattern.fullmatch(plain_key(name)):
                return name
    return names[0] if names else "person_id"


def plain_key(name: str) -> str:
    """Return a name as a key that needs no quotes.

    Example:
        >>> plain_key("Body weight [kg]"), plain_key("2nd visit")
        ('body_weight_kg', 'c2nd_visit')
    """
    key = re.sub(r"\W+", "_", name.strip().lower()).strip("_")
    return f"c{key}" if key[:1].isdigit() else key


def _column(column: Drafted, *, taken: set[str], since: dt.date, until: dt.date) -> Iterator[str]:
    key = own = column.source if re.fullmatch(r"[A-Za-z_]\w*", column.source) else ""
    key = base = own or plain_key(column.source) or "column"
    number = 2
    while key in taken or key in ("on", "off", "yes", "no", "true", "false", "null"):
        key, number = f"{base}_{number}", number + 1
    taken.add(key)
    yield f"      {key}:"
    if key != column.source:
        yield f"        from: {_text(column.source)}"
    if column.label:
        yield f"        label: {_text(column.label)}"
    yield from (f"        {line}" for line in _kind(column, since=since, until=until))
    if column.remark:
        yield f"        # {column.remark}"


def _kind(column: Drafted, *, since: dt.date, until: dt.date) -> Iterator[str]:
    match column.kind:
        case "category":
            yield "categories:"
            yield from (f"  {_text(code)}: {_text(label)}" for code, label in column.codes)
        case "date":
            yield "kind: date"
            yield f"lower: {column.lower or since.isoformat()}"
            yield f"upper: {column.upper or until.isoformat()}"
        case "number":
            whole = column.lower and column.upper
            yield "kind: number" + ("" if whole else _TO_WRITE)
            if column.lower:
                yield f"lower: {column.lower}"
            if column.upper:
                yield f"upper: {column.upper}"
            if column.step:
                yield f"step: {column.step}"
        case _:
            yield "kind: text    # or number, date, or categories: what the code book says"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)

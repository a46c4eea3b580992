"""What texts that cannot be read as declared seem to say: decimal commas, dates, units, spellings.

Each text is looked at by itself; what fits most cells is proposed.  Numbers and dates are told by
their form, with 0 for every digit, so that no value stands on a screen without need.

*Privacy:* looks at cells, so what it says is for the steward alone.
"""

import datetime as dt
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from confide.errors import ContractError
from confide.tables.dialect import ISO, Dialect
from confide.tables.encoding import UNREADABLE
from confide.tables.schema import Column, Kind

MOST_SHOWN = 5
_LONG = 40
_MISSING = frozenset(
    (
        *("na", "n/a", "n.a.", "nan", "null", "none", "nil", "nd", "n.d.", "-", "--", ".", "?"),
        *("x", "unknown", "unk", "missing", "not known", "not done", "not available", "\\n"),
        *("unbekannt", "fehlend", "k.a.", "ka", "keine angabe", "nicht erhoben"),
        *("#n/a", "#nv", "#value!", "#wert!", "#ref!", "#bezug!", "#div/0!", "#name?", "#num!"),
    )
)
_SENTINELS = re.compile(r"\s*-?(?:9{2,}|8{2,}|7{2,}|1)(?:[.,]0*|[.,]9+)?\s*")
_FAR_DAYS = ("1900-01-01", "1899-12-30", "1800-01-01", "9999-12-31", "2099-12-31", "1970-01-01",
             "01.01.1900", "31.12.9999", "2999-12-31", "1753-01-01", "1901-01-01")  # fmt: skip
_SPACES = "[ \u00a0\u202f\u2009]"
_DAY_OR_YEAR = "[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}"
_GROUPED = "thousands and decimal comma"
_COMMAS = (_GROUPED, "decimal comma")
_DATES_AS = "dates as "
_NO_DAY = "day that is none"
_NUMBER = r"[+-]?[0-9]+(?:[.,][0-9]+)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelled:
    """Texts that are wrong in one way.

    Attributes:
        what: Kind of mistake.
        why: A sentence.
        fix: Line of dataset.yaml, below the column or, where it begins with ``dialect``, the table.
        cells: How many.
    """

    what: str
    why: str
    fix: str
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNow:
    """What the other cells of a table are read by, which a proposed dialect must not lose.

    Attributes:
        dates: Forms of dates that are read.
        pointed: Texts of numbers with a decimal point that are read, with how many cells hold each.
    """

    dates: tuple[str, ...] = ()
    pointed: Mapping[str, int] = field(default_factory=dict)


def spellings(
    column: Column, texts: Mapping[str, int], *, unread: bool, now: ReadNow
) -> list[Spelled]:
    """Return what is wrong with the texts of a column.

    Args:
        column: As declared.
        texts: How many cells hold each.
        unread: Whether they cannot be read; else they lie outside bounds or categories.
        now: What else the table holds.
    """
    match column.kind:
        case Kind.NUMBER:
            kinds = _NUMBERS if unread else _OUTSIDE
        case Kind.DATE:
            kinds = _DATES if unread else _FAR
        case Kind.CATEGORY:
            return _categories(column, texts)
        case Kind.TEXT:
            return []
    found: dict[str, Counter[str]] = {}
    for text, cells in texts.items():
        what = next((what for what, is_so in kinds if is_so(text.strip())), "")
        if what or unread:
            found.setdefault(what or "no such value", Counter())[text] += cells
    found = _dated(_joined(found), now=now)
    told = [what.removeprefix(_DATES_AS) for what in found if what.startswith(_DATES_AS)]
    forms = _together(now.dates, told)
    return [_told(what, those, forms=forms, now=now) for what, those in found.items()]


def _full(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text, re.IGNORECASE) is not None


def _means_missing(text: str) -> bool:
    return " ".join(text.lower().split()) in _MISSING


_NUMBERS: Sequence[tuple[str, Callable[[str], bool]]] = (
    ("word for missing", _means_missing),
    ("thousands and decimal comma", _full(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+")),
    ("thousands", _full(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[+-]?[0-9]{1,3}(?:,[0-9]{3}){2,}")),
    ("thousands of spaces", _full(rf"[+-]?[0-9]{{1,3}}(?:{_SPACES}[0-9]{{3}})+(?:[.,][0-9]*)?")),
    ("thousands of apostrophes", _full(r"[+-]?[0-9]{1,3}(?:['\u2019][0-9]{3})+(?:[.,][0-9]*)?")),
    ("decimal comma", _full(r"[+-]?[0-9]*,[0-9]+")),
    ("decimal point", _full(r"[+-]?[0-9]*\.[0-9]+")),
    ("sign of a limit", _full(rf"[<>≤≥~]=?\s*{_NUMBER}.*")),
    ("unit in the cell", _full(rf"{_NUMBER}\s*[%°µa-z\[][^0-9]*.*")),
    ("range in the cell", _full(rf"{_NUMBER}\s*(?:-|–|/|to|bis)\s*{_NUMBER}")),
    ("date in a number", _full(rf"{_DAY_OR_YEAR}|[0-9]{{1,2}}[.-][a-zä]{{3}}.*")),
)  # fmt: skip
_OUTSIDE: Sequence[tuple[str, Callable[[str], bool]]] = (
    ("code for missing", lambda text: _SENTINELS.fullmatch(text) is not None),
)
_DATES: Sequence[tuple[str, Callable[[str], bool]]] = (
    ("word for missing", _means_missing),
    ("dates as DD.MM.YYYY", _full(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}(?:[T ].*)?")),
    ("dates as DD/MM/YYYY", _full(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?:[T ].*)?")),
    ("dates as DD-MM-YYYY", _full(r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}(?:[T ].*)?")),
    ("dates as DD-MON-YYYY", _full(r"[0-9]{1,2}-[a-zä]{3,}\.?-[0-9]{4}(?:[T ].*)?")),
    ("dates as DD MON YYYY", _full(r"[0-9]{1,2} [a-zä]{3,}\.? [0-9]{4}(?:[T ].*)?")),
    ("dates as YYYYMMDD", _full(r"(?:1[89]|20)[0-9]{2}[01][0-9][0-3][0-9]")),
    ("dates as EXCEL", _full(r"[1-9][0-9]{4}(?:[.,][0-9]*)?")),
    ("years of two digits", _full(r"[0-9]{1,2}[./-](?:[0-9]{1,2}|[a-zä]{3})[./-][0-9]{2}")),
    ("seconds since 1970", _full(r"[0-9]{9,10}|[0-9]{12,13}(?:[.][0-9]*)?")),
    ("day that is none", _full(r"[0-9]{4}[-/ ][0-9]{1,2}[-/ ][0-9]{1,2}(?:[T ].*)?")),
    ("year or month alone", _full(r"[0-9]{4}(?:-[0-9]{1,2})?")),
)  # fmt: skip
_FAR: Sequence[tuple[str, Callable[[str], bool]]] = (
    ("code for missing", lambda text: text[:10] in _FAR_DAYS),
)
_WHY = {
    "word for missing": "They are read as missing; say so, where `nulls` is a value.",
    "thousands and decimal comma": "Numbers are written 1.234,5 and read as missing.",
    "thousands": "Groups of thousands have commas, and are read as missing.",
    "thousands of spaces": "Groups of thousands have spaces, and are read as missing.",
    "thousands of apostrophes": "Groups of thousands have apostrophes, and are read as missing.",
    "decimal comma": "Numbers are written 6,5 and read as missing.",
    "decimal point": "Numbers are written 6.5, where a comma is declared, and read as missing.",
    "sign of a limit": "Results below or above a limit are read as missing, which is no accident: "
    "they are the least and the greatest.",
    "unit in the cell": "A unit stands in the cell, which is read as missing.",
    "range in the cell": "Two numbers stand in the cell, which is read as missing.",
    "date in a number": "A spreadsheet made a date of the number; it is read as missing.",
    "code for missing": "It looks like a code for missing, and is read as a value outside.",
    "years of two digits": "The century is left open; they are read as missing.",
    "seconds since 1970": "They are moments of a machine, and read as missing.",
    "day that is none": "There is no such day; it is read as missing.",
    "year or month alone": "No day stands there; it is read as missing.",
    "no such value": "They cannot be read as declared, and are missing.",
}
_FIX = {
    "thousands and decimal comma": 'dialect: {decimal: ",", thousands: "."}',
    "thousands": 'dialect: {thousands: ","}',
    "thousands of spaces": "dialect: {thousands: space}",
    "thousands of apostrophes": "dialect: {thousands: apostrophe}",
    "decimal comma": 'dialect: {decimal: ","}',
    "decimal point": "Write all numbers in one form into the file.",
    "sign of a limit": "Write half the limit, or the limit, into the file, as the protocol says.",
    "unit in the cell": "units: {in: cell, known: {kg: kg}}, with the units that stand there",
    "range in the cell": "Split it into two columns.",
    "date in a number": "Export the column as text, not through a spreadsheet.",
    "years of two digits": "Write four digits of the year into the file.",
    "seconds since 1970": "Write dates into the file.",
    "day that is none": "Correct it where it was entered.",
    "year or month alone": "Declare kind: year, or write days into the file.",
    "no such value": "Look at them in the source.",
}


def _joined(found: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    """Return kinds in which one dialect explains another, and days that tell which comes first."""
    if "thousands" in found and "decimal comma" in found:
        lone = all(
            re.fullmatch(r"[+-]?[0-9]{1,3},[0-9]{3}", t.strip()) for t in found["decimal comma"]
        )
        if lone:
            found["thousands"] += found.pop("decimal comma")
    if "thousands and decimal comma" in found and "decimal comma" in found:
        found["thousands and decimal comma"] += found.pop("decimal comma")
    for sign in "/-":
        first = f"dates as DD{sign}MM{sign}YYYY"
        days = [text.strip().split(sign)[:2] for text in found.get(first, ())]
        if any(int(second) > 12 for _, second in days) and all(int(one) <= 12 for one, _ in days):
            found[f"dates as MM{sign}DD{sign}YYYY"] = found.pop(first)
    return found


def _dated(found: dict[str, Counter[str]], *, now: ReadNow) -> dict[str, Counter[str]]:
    """Return kinds in which days of a form that is read are none, and days of ISO are days."""
    if not now.dates:
        return found
    none: Counter[str] = Counter()
    for form in now.dates:
        none += found.pop(f"{_DATES_AS}{form}", Counter())
    if ISO not in now.dates:
        for text, cells in list(found.get(_NO_DAY, Counter()).items()):
            if _is_day(text):
                found.setdefault(f"{_DATES_AS}{ISO}", Counter())[text] += cells
                del found[_NO_DAY][text]
    none += found.pop(_NO_DAY, Counter())
    return found | ({_NO_DAY: none} if none else {})


def _is_day(text: str) -> bool:
    try:
        dt.date(*map(int, re.split("[-/ ]", text.strip()[:10])))
    except (TypeError, ValueError):
        return False
    return True


def _together(kept: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    """Return the forms that can be declared together; those found alone where they are alike."""
    try:
        return Dialect(dates=tuple(dict.fromkeys((*kept, *found)))).dates
    except ContractError:
        return ()


def _lost(what: str, *, now: ReadNow) -> int:
    """Return how many cells that are read now a decimal comma would make missing."""
    groups = r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+" if what == _GROUPED else r"(?!)"
    return sum(n for text, n in now.pointed.items() if not re.fullmatch(groups, text.strip()))


def _told(what: str, those: Counter[str], *, forms: Sequence[str], now: ReadNow) -> Spelled:
    cells = those.total()
    if what.startswith(_DATES_AS):
        form = what.removeprefix(_DATES_AS)
        why = f"Dates are written {form} and read as missing."
        fix = f"dialect: {{dates: {form if len(forms) < 2 else _listed(forms)}}}"
        both = [
            text
            for text in those
            if re.match(r"\s*(?:0?[1-9]|1[0-2])[/-](?:0?[1-9]|1[0-2])[/-]", text)
        ]
        if len(both) == len(those) and form[2] in "/-" and "MON" not in form:
            fix += f" (or MM{form[2]}DD{form[2]}YYYY: all days are below 13, so ask who wrote it)"
    elif what in ("word for missing", "code for missing"):
        codes = ", ".join(_quoted(text) for text, _ in those.most_common(MOST_SHOWN))
        why, fix = _WHY[what], f"missing: [{codes}]"
        if what == "code for missing":
            return Spelled(what=what, why=f"{why} Seen: {codes}.", fix=fix, cells=cells)
    elif what in _COMMAS and (lost := _lost(what, now=now)):
        why = f"{_WHY[what]} In the table {lost:,} others have a point, and are read."
        fix = 'Write all numbers in one form into the file: decimal: "," would lose the others.'
    else:
        why, fix = _WHY[what], _FIX[what]
    written = (
        Counter(_form(text) for text in those.elements())
        if cells < 10**6
        else Counter({_form(text): n for text, n in those.items()})
    )
    shown = ", ".join(_quoted(form) for form, _ in written.most_common(MOST_SHOWN))
    return Spelled(what=what, why=f"{why} Written as: {shown}.", fix=fix, cells=cells)


def _listed(forms: Sequence[str]) -> str:
    return f"[{', '.join(forms)}]"


def _form(text: str) -> str:
    return re.sub("[0-9]", "0", text)[:_LONG]


def _quoted(text: str) -> str:
    shown = text[:_LONG].replace('"', "'")
    return shown if re.fullmatch(r"-?[0-9.]+", shown) else f'"{shown}"'


def _categories(column: Column, texts: Mapping[str, int]) -> list[Spelled]:
    """Return texts that are nearly a declared code, words for missing, and all others."""
    near: dict[str, list[tuple[str, str]]] = {}
    folded = {form: code for code, _ in column.codes for form in _folds(code)}
    label = {code: column.keys[index] for code, index in column.codes}
    for text in texts:
        code = next((folded[form] for form in _folds(text) if form in folded), None)
        if UNREADABLE in text or "Ã" in text:
            near.setdefault("damaged letters", []).append((text, ""))
        elif code is not None:
            near.setdefault(_difference(text, code), []).append((text, label[code]))
        elif _means_missing(text.strip()):
            near.setdefault("word for missing", []).append((text, ""))
        else:
            near.setdefault("no category", []).append((text, ""))
    return [_of_category(what, pairs, texts=texts) for what, pairs in near.items()]


def _of_category(what: str, pairs: list[tuple[str, str]], *, texts: Mapping[str, int]) -> Spelled:
    cells = sum(texts[text] for text, _ in pairs)
    often = sorted(pairs, key=lambda pair: -texts[pair[0]])[: 2 * MOST_SHOWN]
    shown = ", ".join(f"{_quoted(text)} ({texts[text]:,})" for text, _ in often)
    match what:
        case "damaged letters":
            why, fix = "Letters were damaged, or are in another encoding", "encoding: windows-1252"
        case "word for missing":
            why = "They are no category"
            fix = f"missing: [{', '.join(_quoted(text) for text, _ in often)}]"
        case "no category":
            why = "They are no declared category, and become what `other` says"
            fix = "Declare what the code book has; for the rest write other: drop, or a category."
        case _:
            why = "They differ from a declared category, and become what `other` says"
            added = ", ".join(f"{_quoted(text)}: {_quoted(to)}" for text, to in often)
            fix = f"categories: {{..., {added}}}"
    return Spelled(what=what, why=f"{why}: {shown}.", fix=fix, cells=cells)


def _folds(text: str) -> tuple[str, ...]:
    """Return how a text reads without capitals, blanks, accents, and as a number."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().replace("\u200b", "").split())
    written = plain
    for umlaut, letters in {"ä": "ae", "ö": "oe", "ü": "ue"}.items():
        written = written.replace(umlaut, letters)
    bare = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    forms = [plain, written, bare, re.sub(r"[\W_]+", "", written)]
    if re.fullmatch(r"[+-]?0*[0-9]+(?:[.,]0*)?", plain):
        forms.append(str(int(re.split("[.,]", plain)[0])))
    return tuple(dict.fromkeys(form for form in forms if form))


def _difference(text: str, code: str) -> str:
    """Return in what a text differs from a code."""
    if text.strip() == code.strip():
        return "blanks around a category"
    if text.strip().casefold() == code.strip().casefold():
        return "capitals of a category"
    if re.fullmatch(r"\s*[+-]?[0-9]+(?:[.,]0*)?\s*", text):
        return "number of a category written otherwise"
    return "spelling of a category"

"""The data dictionary of a REDCap project: what each field is, its choices, bounds and whose it is.

A checkbox is a column for each of its choices, ``field___code``.  Fields that the project marks as
identifiers are left out, as are notes, files, times of day, e-mail addresses and telephone numbers;
the first field is the record, which identifies a person unless the project says otherwise.

References:
    [REDCap] Harris et al. Research electronic data capture (REDCap). J Biomed Inform 42, 2009.
        https://doi.org/10.1016/j.jbi.2008.08.010
"""

import csv
import datetime as dt
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from confide.errors import ContractError
from confide.files.drafts.draft import Drafted, DraftedTable
from confide.regular_file import reading_text

_NAMES = {
    "name": ("Variable / Field Name", "field_name"),
    "type": ("Field Type", "field_type"),
    "label": ("Field Label", "field_label"),
    "choices": (
        "Choices, Calculations, OR Slider Labels",
        "select_choices_or_calculations",
    ),
    "checked": (
        "Text Validation Type OR Show Slider Number",
        "text_validation_type_or_show_slider_number",
    ),
    "min": ("Text Validation Min", "text_validation_min"),
    "max": ("Text Validation Max", "text_validation_max"),
    "identifier": ("Identifier?", "identifier"),
    "required": ("Required Field?", "required_field"),
}
"""Our words for columns of a dictionary, as REDCap's pages and its interface export them."""
_FLAGS = {
    "yesno": (("1", "yes"), ("0", "no")),
    "truefalse": (("1", "true"), ("0", "false")),
    "checkbox": (("1", "yes"), ("0", "no")),
}
_NOT_READ = {
    "descriptive": "text of the form",
    "file": "a file",
    "signature": "a file",
    "notes": "free text",
    "sql": "looked up in another project",
}
_DIRECT = ("email", "phone", "ssn", "mrn", "zipcode", "postalcode", "vmrn")
_DECIMAL_COMMA = ('dialect: {decimal: ","}    # as numbers of the project are typed',)
_WRITTEN_APART = "typed as 6,5 where others are typed as 6.5: export it with a point"
_Field = Mapping[str, str]


def redcap_draft(dictionary: Path, *, source: Path) -> DraftedTable:
    """Return the draft of a REDCap export.

    Args:
        dictionary: CSV file of the project's data dictionary.
        source: The export, CSV of raw values; named, not opened.

    Raises:
        ContractError: If the dictionary is none.
    """
    fields = _fields(dictionary)
    columns: list[Drafted] = []
    left_out: list[tuple[str, str]] = []
    for field in fields[1:]:
        why = _left_out(field)
        if why:
            left_out += [] if field["type"] == "descriptive" else [(field["name"], why)]
        else:
            columns += _columns(field, mixed=_commas(fields) == "some")
    return DraftedTable(
        origin="the data dictionary of REDCap",
        kind="csv",
        folder=source.parent.as_posix(),
        file=source.name,
        person=fields[0]["name"],
        columns=tuple(columns),
        lines=_DECIMAL_COMMA if _commas(fields) == "all" else (),
        left_out=tuple(left_out),
    )


def _commas(fields: Sequence[_Field]) -> str:
    """Return whether all numbers with places are written 6,5, or some, or none."""
    typed = (f["checked"].lower() for f in fields if f["type"] == "text")
    placed = [each for each in typed if each.startswith("number")]
    with_comma = sum("comma" in each for each in placed)
    return "all" if placed and with_comma == len(placed) else "some" if with_comma else "none"


def _fields(path: Path) -> list[_Field]:
    try:
        with reading_text(path, encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error):
        rows = []
    found: list[_Field] = []
    for row in rows:
        field = {
            ours: next((str(row[name] or "").strip() for name in names if name in row), "")
            for ours, names in _NAMES.items()
        }
        if field["name"] and field["type"]:
            found.append(field)
    if not found:
        raise ContractError(
            f"{path.name} is no data dictionary of REDCap.",
            hint="Download it in REDCap: Project Setup, Data Dictionary; CSV in UTF-8.",
        )
    return found


def _left_out(field: _Field) -> str:
    checked = field["checked"].lower()
    if field["identifier"].lower() in ("y", "1", "yes"):
        return "an identifier"
    if field["type"] in _NOT_READ:
        return _NOT_READ[field["type"]]
    if checked.startswith(_DIRECT):
        return "an identifier"
    return "a time of day" if checked.startswith("time") else ""


def _columns(field: _Field, *, mixed: bool) -> Iterator[Drafted]:
    """Yield the columns of a field: one, or of a checkbox one for each choice.

    Args:
        field: Of the dictionary.
        mixed: Whether some numbers of the project are written 6,5 and others 6.5.
    """
    name, kind, label = field["name"], field["type"], _words(field["label"])
    required = "required" if field["required"].lower() in ("y", "1", "yes") else ""
    choices = _choices(field["choices"])
    if kind == "checkbox":
        for code, choice in choices:
            yield Drafted(
                source=f"{name}___{code.lower().replace('-', '_')}",
                kind="category",
                label=f"{label}: {choice}",
                codes=_FLAGS[kind],
            )
    elif kind in _FLAGS:
        codes = _FLAGS[kind]
        yield Drafted(source=name, kind="category", label=label, codes=codes, remark=required)
    elif kind in ("radio", "dropdown") and choices:
        yield Drafted(source=name, kind="category", label=label, codes=choices, remark=required)
    elif kind in ("calc", "slider"):
        lower, upper = (field["min"], field["max"]) if kind == "slider" else ("", "")
        slides = kind == "slider"
        yield Drafted(
            source=name,
            kind="number",
            label=label,
            lower=_number(lower) or ("0" if slides else ""),
            upper=_number(upper) or ("100" if slides else ""),
        )
    else:
        comma = mixed and "comma" in field["checked"].lower()
        yield _typed(field, label=label, remark=_WRITTEN_APART if comma else required)


def _typed(field: _Field, *, label: str, remark: str) -> Drafted:
    """Return the column of a field into which text is typed."""
    checked = field["checked"].lower()
    kind, read, step = "text", _number, ""
    if checked.startswith(("integer", "number")):
        kind = "number"
        step = _step(checked, field["min"], field["max"])
    elif checked.startswith("date"):
        kind, read = "date", _day
    bounded = kind != "text"
    return Drafted(
        source=field["name"],
        kind=kind,
        label=label,
        lower=read(field["min"]) if bounded else "",
        upper=read(field["max"]) if bounded else "",
        step=step,
        remark=remark,
    )


def _step(checked: str, *bounds: str) -> str:
    """Return the step of numbers with places: those that are validated, or that a bound has."""
    stated = re.match(r"number_([1-9])dp", checked)
    after = [len(_number(bound).partition(".")[2]) for bound in bounds]
    places = int(stated[1]) if stated else max(after)
    return f"0.{'0' * (places - 1)}1" if places else ""


def _choices(written: str) -> tuple[tuple[str, str], ...]:
    """Return codes and labels of ``1, Female | 2, Male``."""
    pairs: Sequence[Sequence[str]] = [each.split(",", 1) for each in written.split("|")]
    return tuple((pair[0].strip(), _words(pair[1])) for pair in pairs if len(pair) == 2)


def _words(written: str) -> str:
    """Return a label without tags and line ends."""
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", " ", written)).split())


def _number(written: str) -> str:
    try:
        value = Decimal(written.replace(",", "."))
    except InvalidOperation:
        return ""
    return format(value, "f") if value.is_finite() else ""


def _day(written: str) -> str:
    try:
        return dt.date.fromisoformat(written[:10]).isoformat()
    except ValueError:
        return ""

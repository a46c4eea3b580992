"""Workbooks made cell by cell, with what Excel can store and what people do to it.

A cell is a text, a number, a bool, a date, a moment, a time of day, None; or :class:`Stored`, for
all that no such value is.
"""

import datetime as dt
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
GENERAL, DAY, TIME, HOURS, MOMENT, GERMAN = range(6)
_STYLES = (0, 14, 21, 46, 22, 170)
_ORIGINS = {
    False: dt.datetime.fromisoformat("1899-12-30"),
    True: dt.datetime.fromisoformat("1904-01-01"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A cell as its file holds it.

    Attributes:
        value: Text of its value.
        type: "n", "e" for an error, "str" for the text of a formula, ...
        style: One of the six above.
    """

    value: str
    type: str = "n"
    style: int = GENERAL


def workbook(
    sheets: Mapping[str, Sequence[Sequence[object]]],
    *,
    from_1904: bool = False,
    merged: Sequence[str] = (),
) -> bytes:
    """The bytes of a workbook; merged ranges, such as "B1:C1", are of its first sheet."""
    file = io.BytesIO()
    relations = [("styles", "styles.xml")]
    listed = ""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, (name, rows) in enumerate(sheets.items(), start=1):
            listed += f'<sheet name="{escape(name)}" sheetId="{number}" r:id="rId{number}"/>'
            relations.insert(number - 1, ("worksheet", f"worksheets/sheet{number}.xml"))
            body = "".join(_row(at, row, from_1904) for at, row in enumerate(rows, start=1))
            ranges = "".join(f'<mergeCell ref="{each}"/>' for each in merged)
            together = f"<mergeCells>{ranges}</mergeCells>" if ranges and number == 1 else ""
            packed.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData>{together}'
                "</worksheet>",
            )
        since = ' date1904="1"' if from_1904 else ""
        packed.writestr(
            "xl/workbook.xml",
            f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><workbookPr{since}/>'
            f"<sheets>{listed}</sheets></workbook>",
        )
        packed.writestr("xl/_rels/workbook.xml.rels", _related(relations))
        packed.writestr("_rels/.rels", _related([("officeDocument", "xl/workbook.xml")]))
        packed.writestr("xl/styles.xml", _styles())
        packed.writestr(
            "[Content_Types].xml",
            f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/></Types>',
        )
    return file.getvalue()


def _related(those: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{i}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(those, start=1)
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _styles() -> str:
    formats = "".join(f'<xf numFmtId="{number}"/>' for number in _STYLES)
    return (
        f'{_HEAD}<styleSheet xmlns="{_MAIN}"><numFmts count="1">'
        '<numFmt numFmtId="170" formatCode="dd\\.mm\\.yyyy"/></numFmts>'
        f'<cellXfs count="{len(_STYLES)}">{formats}</cellXfs></styleSheet>'
    )


def _row(at: int, row: Sequence[object], from_1904: bool) -> str:
    cells = "".join(
        _cell(f"{_letters(place)}{at}", value, from_1904) for place, value in enumerate(row)
    )
    return f'<row r="{at}">{cells}</row>'


def _letters(place: int) -> str:
    return (chr(64 + place // 26) if place >= 26 else "") + chr(65 + place % 26)


def _cell(at: str, value: object, from_1904: bool) -> str:
    stored = _stored(value, from_1904)
    if stored is None:
        return ""
    if stored.type == "inlineStr":
        text = f'<is><t xml:space="preserve">{escape(stored.value)}</t></is>'
        return f'<c r="{at}" t="inlineStr">{text}</c>'
    return f'<c r="{at}" s="{stored.style}" t="{stored.type}"><v>{escape(stored.value)}</v></c>'


def _stored(value: object, from_1904: bool) -> Stored | None:
    match value:
        case None | Stored():
            return value
        case bool():
            return Stored(value=str(int(value)), type="b")
        case str():
            return Stored(value=value, type="inlineStr")
        case dt.datetime():
            days = (value - _ORIGINS[from_1904]) / dt.timedelta(days=1)
            return Stored(value=repr(days), style=MOMENT)
        case dt.date():
            days = (dt.datetime.combine(value, dt.time()) - _ORIGINS[from_1904]).days
            return Stored(value=str(days), style=GERMAN)
        case dt.time():
            seconds = value.hour * 3600 + value.minute * 60 + value.second
            return Stored(value=repr(seconds / 86400), style=TIME)
    return Stored(value=f"{value:.17g}" if isinstance(value, float) else str(value))

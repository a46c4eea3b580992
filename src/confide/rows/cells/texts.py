"""Text of a source: bytes that are text, compared byte by byte, in normal form C.

*Privacy:* each rule looks at one cell and is total, so that no cell makes a query fail, and two
texts are one where all of their bytes are the same.

References:
    [UAX15] Unicode Standard Annex 15: Unicode normalization forms. https://unicode.org/reports/tr15
"""

from sqlglot import exp

from confide.rows.cells.build import call, case, num


def readable(text: exp.Expr) -> exp.Expr:
    """Return the bytes of a text as text of no collation, NULL where they are no UTF-8.

    A column may say that it ignores case or accents, and then grouping, joining and comparing do,
    while hashing and windows do not; a cast keeps that.  And a DuckDB file may hold bytes that are
    no text, as when it was made of an Arrow table: sorting, normalising and fetching then fail, all
    of the query, for one cell of one patient.
    """
    encoded = exp.Anonymous(this="encode", expressions=[text])
    again = exp.Anonymous(this="decode", expressions=[encoded])
    return exp.Anonymous(this="try", expressions=[again])


def in_normal_form(text: exp.Expr) -> exp.Expr:
    """Return a text in normal form C: each piece alone, as the engine's function ends at a NUL."""
    nul, piece = call("chr", num(0)), exp.to_identifier("piece", quoted=True)
    each = exp.Lambda(this=call("nfc_normalize", piece), expressions=[piece])
    pieces = call("list_transform", call("string_split", text, nul), each)
    joined = call("array_to_string", pieces, nul)
    return case((call("contains", text, nul), joined), default=call("nfc_normalize", text))

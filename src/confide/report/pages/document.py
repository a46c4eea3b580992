"""An HTML document that stands alone: inline style, no script, no request to anywhere."""

import re

from confide.drawing.markup import Html, tag, trusted
from confide.regular_file import own_text

_LETTERS = "εδρ"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_PERCENT = re.compile(r"(?<=\d) (?=%)")
_PROSE = re.compile(r"<(p|li)\b[^>]*>.*?</\1>", re.DOTALL)
_RANGE = re.compile(r"(?<=\d)(\N{EN DASH})(?=\d)")
"""Where a browser would end a line inside of an interval."""


def document(body: Html, *, title: str, language: str) -> str:
    """Return a whole HTML document around what its body holds."""
    style = own_text("confide.report", "page.css")
    for letter in _LETTERS:  # no line ends inside of an amount
        body = trusted(
            body.replace(f"{letter} = ", f"{letter}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
        )
    body = trusted(body.replace(" ≈ ", "\N{NO-BREAK SPACE}≈\N{NO-BREAK SPACE}"))
    body = trusted(_PERCENT.sub("\N{NO-BREAK SPACE}", body))
    body = trusted(_PROSE.sub(lambda found: _RANGE.sub("\\1\N{WORD JOINER}", found[0]), body))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content="confide"),
        tag("title", title),
        tag("style", trusted(style)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', body), lang=language)}\n"

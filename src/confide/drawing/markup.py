"""HTML in which text is escaped unless it was made here: there is no other way to add it.

*Privacy:* names, keys and titles come from files and data; none of them can become an element, an
attribute or a script.
"""

import html
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

_VOID = frozenset({"meta", "br", "img", "hr"})


class Html(str):
    """Text that is markup already; only :func:`tag` and :func:`trusted` make it."""

    __slots__ = ()


Child: TypeAlias = "str | Html | Iterable[Child]"


def tag(name: str, /, *children: Child, **attributes: str) -> Html:
    """Return an element; a str child is escaped, and ``class_`` and ``aria_label`` lose their _.

    Example:
        >>> tag("p", "ward <7>", class_="note")
        '<p class="note">ward &lt;7&gt;</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value, quote=True)}"'
        for key, value in attributes.items()
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Html:
    """Return children one after another, each escaped unless it is markup.

    Example:
        >>> join(["a & b", tag("b", "c")])
        'a &amp; b<b>c</b>'
    """
    return Html("".join(_one(child) for child in children))


def _one(child: Child) -> str:
    match child:
        case Html():
            return str(child)
        case str():
            return html.escape(child, quote=True)
        case _:
            return join(child)


def trusted(markup: str) -> Html:
    """Return markup that this package drew itself: an SVG or a style sheet."""
    return Html(markup)


def isolated(text: str) -> Html:
    """Return text from files or data, so that its writing direction stays inside it.

    Example:
        >>> isolated("ward")
        '<bdi>ward</bdi>'
    """
    return tag("bdi", text)


def rows_of_texts(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Collection[int],
    **attributes: str,
) -> Html:
    """Return a table of texts, or of markup.

    Args:
        head: Column titles.
        rows: One text a column.
        numbers: Which columns stand at the right.
        attributes: Of the box around it.
    """

    def cell(name: str, text: str, column: int, **more: str) -> Html:
        kind = {"class_": "number"} if column in numbers else {}
        return tag(name, text, **more, **kind)

    heads = [cell("th", text, i, scope="col") for i, text in enumerate(head)]
    body = [tag("tr", [cell("td", text, i) for i, text in enumerate(row)]) for row in rows]
    return tag(
        "div",
        tag("table", tag("thead", tag("tr", heads)), tag("tbody", body)),
        **({"class_": "table"} | attributes),
    )

"""HTML in which text is escaped unless it was made here: there is no other way to add it.

*Privacy:* names, keys and titles come from files and data; none of them can become an element, an
attribute or a script.
"""

import html
from collections.abc import Iterable
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
    """Return markup that this package drew itself: an SVG, a style sheet, a Great Tables table."""
    return Html(markup)


def isolated(text: str) -> Html:
    """Return text from files or data, so that its writing direction stays inside it.

    Example:
        >>> isolated("ward")
        '<bdi>ward</bdi>'
    """
    return tag("bdi", text)

"""Templates of legal documents: their outlines, and the two forms in which they are written.

A name that a template does not know is an error, and whatever is put into one is escaped for the
form that is written, unless it is markup already.

*Privacy:* text from files is escaped, so that none of it becomes markup.
"""

import re
from collections.abc import Callable
from enum import Enum
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Undefined, UndefinedError
from markupsafe import Markup

from confide.drawing.markup import Html, join
from confide.regular_file import own_text

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$!&])")


class TemplateForm(Enum):
    """What a template gives: parts and fields, or a page of them."""

    OUTLINE = "outline"
    MARKDOWN = "md"
    HTML = "html"


def rendered(name: str, form: TemplateForm, /, **facts: Any) -> str:
    """Return what a template gives of facts."""
    environment = Environment(
        loader=FunctionLoader(lambda wanted: _source(wanted, form=form)),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_ESCAPED[form],
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(f"{name}.{form.value}.jinja").render(facts)


def plain(text: str) -> str:
    r"""Return text such that Markdown shows it as it is.

    Example:
        >>> print(plain("age_band <b>"))
        age\_band \<b\>
    """
    return _SPECIAL.sub(r"\\\1", text)


def _source(name: str, *, form: TemplateForm) -> str:
    text = own_text("confide.report.legal", f"templates/{name}")
    return "".join(map(str.strip, text.splitlines())) if form is TemplateForm.HTML else text


def _escaped(escape: Callable[[str], str]) -> Callable[[Any], Markup]:
    """Return what makes markup of a value; what is neither text, number nor markup is an error."""

    def made(value: Any) -> Markup:
        match value:
            case Markup():
                return value
            case Html():
                return Markup(str(value))  # noqa: S704 - drawn by this package
            case str() | int():
                return Markup(escape(str(value)))  # noqa: S704 - escaped here
            case Undefined():
                raise UndefinedError(str(value))  # the text of one that is strict raises itself
            case _:
                raise TypeError(f"Expected text in a template, got {type(value).__name__}.")

    return made


_ESCAPED = {
    TemplateForm.OUTLINE: _escaped(str),
    TemplateForm.MARKDOWN: _escaped(plain),
    TemplateForm.HTML: _escaped(lambda text: join([text])),
}

"""Outlines of legal documents and the two forms in which they are written."""

import re

import pytest
from jinja2 import UndefinedError

from confide.drawing.markup import trusted
from confide.regular_file import own_text
from confide.report.legal.document import Kind
from confide.report.legal.fields import OF_SITE, OF_SUBJECT
from confide.report.legal.templates import TemplateForm, rendered

FACTS = {"document": None, "status": None, "say": lambda key, **_: key, "form": str}


@pytest.mark.parametrize("form", [TemplateForm.MARKDOWN, TemplateForm.HTML])
def test_a_name_that_a_template_does_not_know_is_an_error(form):
    with pytest.raises(UndefinedError):
        rendered("page", form, **{k: v for k, v in FACTS.items() if k != "say"})
    with pytest.raises(UndefinedError):
        rendered("page", form, **FACTS)


@pytest.mark.parametrize("kind", Kind)
def test_a_fact_that_an_outline_is_not_given_is_an_error(kind):
    if "{%" in own_text("confide.report.legal", f"templates/{kind.value}.outline.jinja"):
        with pytest.raises(UndefinedError):
            rendered(kind.value, TemplateForm.OUTLINE)


def test_each_form_escapes_what_its_readers_would_take_for_markup():
    from confide.report.legal.templates import _ESCAPED

    assert _ESCAPED[TemplateForm.HTML]("<b>'x'") == "&lt;b&gt;&#x27;x&#x27;"
    assert _ESCAPED[TemplateForm.MARKDOWN]("<b>*x*") == r"\<b\>\*x\*"
    for form in (TemplateForm.HTML, TemplateForm.MARKDOWN):
        assert _ESCAPED[form](trusted("<b>")) == "<b>"
        assert _ESCAPED[form](_ESCAPED[form]("<b>")) == _ESCAPED[form]("<b>")
        with pytest.raises(TypeError, match="Expected text"):
            _ESCAPED[form](None)


def test_whatever_can_be_shown_is_shown_by_some_outline():
    texts = [own_text("confide.report.legal", f"templates/{k.value}.outline.jinja") for k in Kind]
    shown = set(re.findall(r"^ +show (\S+)", "\n".join(texts), re.MULTILINE))
    assert shown == set(OF_SUBJECT) | set(OF_SITE)

"""Whether a certificate has the form of one, and that form as a JSON Schema."""

import contextlib
from collections.abc import Iterator
from typing import TypeVar

from pydantic import ValidationError

from confide.errors import UnsupportedError, VerificationError
from confide.plans.canonical import Json
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.parts import CertificatePart

_OTHER = "This is not a certificate of this format"
_Form = TypeVar("_Form", bound=CertificatePart)


def schema(form: type[CertificatePart] = CertificateForm) -> Json:
    """Return the JSON Schema (2020-12) of a certificate; nothing in it may be null."""
    found = form.model_json_schema(by_alias=True)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return _without_null(found)


def _without_null(node: Json) -> Json:
    match node:
        case {"anyOf": [kept, {"type": "null"}], **rest}:
            rest.pop("default", None)
            return _without_null(kept | rest)
        case dict():
            return {name: _without_null(each) for name, each in node.items()}
        case list():
            return [_without_null(each) for each in node]
        case _:
            return node


def read_form(certificate: Json, *, form: type[_Form]) -> _Form:
    """Return what a certificate says.

    Raises:
        VerificationError: If it does not have the form.
    """
    try:
        if line := _null(certificate):
            raise VerificationError(f"{_OTHER}: {line} is null; what is not known is absent.")
        return form.read(certificate)
    except RecursionError:
        raise VerificationError(f"{_OTHER}: it is nested too deeply.") from None
    except ValidationError as broken:
        raise VerificationError(f"{_OTHER}: {first_problem(broken)}.") from None


@contextlib.contextmanager
def statable() -> Iterator[None]:
    """Refuse in words what has no place in a form.

    Raises:
        UnsupportedError: If a part cannot be built of it.
    """
    try:
        yield
    except ValidationError as broken:
        told = first_problem(broken)
        raise UnsupportedError(f"No certificate can state this plan: {told}.") from None


def first_problem(broken: ValidationError) -> str:
    """Return the first place that does not have the form, and why."""
    first = broken.errors(include_url=False, include_input=False)[0]
    line = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"]).lstrip(".")
    return f"{line}: {first['msg']}"


def _null(node: Json, line: str = "certificate") -> str:
    if node is None:
        return line
    items = list(node.items()) if isinstance(node, dict) else []
    items = list(enumerate(node)) if isinstance(node, list) else items
    return next((found for name, each in items if (found := _null(each, f"{line}.{name}"))), "")

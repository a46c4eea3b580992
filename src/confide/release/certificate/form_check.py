"""Whether a certificate has the form of one, and that form as a JSON Schema."""

from pydantic import ValidationError

from confide.plans.canonical import Json
from confide.release.certificate.form import VERSION, CertificateForm


def schema() -> Json:
    """Return the JSON Schema (2020-12) of a certificate; nothing in it may be null."""
    found = CertificateForm.model_json_schema(by_alias=True)
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    found["title"] = f"Certificate of a release, version {VERSION}"
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


def form_problem(certificate: Json) -> str:
    """Return the first place where a certificate does not have the form; empty where it does."""
    if line := _null(certificate):
        return f"{line} is null; what is not known is absent"
    try:
        CertificateForm.model_validate(certificate)
    except ValidationError as broken:
        first = broken.errors(include_url=False, include_input=False)[0]
        places = first["loc"]
        line = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in places).lstrip(".")
        return f"{line}: {first['msg']}"
    return ""


def _null(node: Json, line: str = "certificate") -> str:
    if node is None:
        return line
    items = list(node.items()) if isinstance(node, dict) else []
    items = list(enumerate(node)) if isinstance(node, list) else items
    return next((found for name, each in items if (found := _null(each, f"{line}.{name}"))), "")

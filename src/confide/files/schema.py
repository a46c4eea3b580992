"""JSON Schemas of the files, for editors and for checks outside this program.

They are generated from the models that read the files, so they cannot say anything else.  A schema
knows keys and shapes; that a name is declared, or that a bound lies on its grid, is checked when
the file is read.

References:
    [JSONSchema] JSON Schema: a media type for describing JSON documents. Draft 2020-12.
        https://json-schema.org/draft/2020-12
"""

from collections.abc import Mapping
from typing import Any

from confide.errors import UnknownNameError
from confide.files.dataset import DatasetFile
from confide.files.legal import LegalFile
from confide.files.linkage.linkage import LinkageFile
from confide.files.policy.policy_sections import PolicyFile
from confide.files.study import StudyFile
from confide.files.synth.synth import SynthFile
from confide.files.texts import Section

FILES: Mapping[str, type[Section]] = {
    "dataset": DatasetFile,
    "study": StudyFile,
    "policy": PolicyFile,
    "legal": LegalFile,
    "synth": SynthFile,
    "linkage": LinkageFile,
}


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file: "dataset", "study", "policy", "legal", "synth", "linkage".

    Raises:
        UnknownNameError: If there is no such file.

    Example:
        >>> sorted(json_schema("study")["properties"])
        ['cohorts', 'dataset', 'labels', 'small-cells', 'spend', 'statistics', 'study']
    """
    if name not in FILES:
        raise UnknownNameError("file", name, known=FILES)
    schema = FILES[name].model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema

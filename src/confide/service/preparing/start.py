"""Start: dataset.yaml and study.yaml to fill in, and the keys.

*Privacy:* the source is never opened; columns are those that the caller names.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from confide.errors import ContractError
from confide.regular_file import create_text, own_text
from confide.release.site.keys import make_signing_key
from confide.service.opening import initialise

_NAME = re.compile(r"[^\W\d]\w{0,62}")
_KINDS = {".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".duckdb": "duckdb", ".db": "duckdb"}
_TEXT = (
    "{{kind: text}}    # declare it before use: kind: number with lower and upper, or categories"
)
_HEADER_OF = "If the file calls it otherwise, leave --{name} out and write its name into {key}."
_SAMPLE = """\
      sex: {categories: {1: male, 2: female}, source: your code book}
      age: {kind: number, lower: 0, upper: 100, unit: a, source: your protocol}
      diabetes: {categories: [yes, no], source: your code book}
"""
_EXAMPLES = """\
  - {id: diabetes, kind: proportion, of: {diabetes: [yes]}, by: [sex], per: 100, \
expect: {count: 2000}, error: {within: 3}}
"""
_LATER = """\
  # - {id: by_sex, kind: histogram, by: [sex], error: {within: 20}}
  # - {id: bmi, kind: mean, column: bmi, by: [sex], expect: {count: 500}, error: {within: 1}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A folder that is ready to be filled in.

    Attributes:
        folder: Which.
        made: Files that were made.
        kept: Files that were there.
        keys: Where the keys are.
    """

    folder: Path
    made: tuple[str, ...]
    kept: tuple[str, ...]
    keys: Path


def start(
    folder: Path,
    *,
    source: Path | None = None,
    person: str = "person_id",
    columns: str = "",
    table: str = "patients",
    organisation: str = "",
) -> Started:
    """Make dataset.yaml, study.yaml and the keys; never opens the data.

    Args:
        folder: To make or to complete.
        source: The data; not opened.
        person: Column that names the patient.
        columns: Names to declare, between commas.
        table: What to call the table.
        organisation: Who issues certificates.

    Raises:
        ContractError: If a name is none, or the kind of the data cannot be told.
    """
    names = [name.strip() for name in columns.split(",") if name.strip()]
    texts = _texts(
        folder, source=source, person=person, names=names, table=table, organisation=organisation
    )
    folder.mkdir(parents=True, exist_ok=True)
    made = tuple(name for name, text in texts.items() if _write(folder / name, text))
    inside = initialise(folder)
    make_signing_key(inside)  # for one that was lost for good: its ledger asks an officer
    kept = tuple(name for name in texts if name not in made)
    return Started(folder=folder, made=made, kept=kept, keys=inside)


def _texts(
    directory: Path,
    *,
    source: Path | None,
    person: str,
    names: list[str],
    table: str,
    organisation: str,
) -> dict[str, str]:
    _require_name("--id", person, hint=_HEADER_OF.format(key="protects: {id: ...}", name="id"))
    _require_name("--table", table, hint="Where it lies in the source is said by `from`.")
    for name in names:
        hint = "Give columns by name: --columns age,sex,diabetes. " + _HEADER_OF.format(
            key="`from`", name="columns"
        )
        _require_name("--columns", name, hint=hint)
    path = source or Path(f"{table}.csv")
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise ContractError(
            f"Cannot tell what kind of data {path.name!r} is.",
            hint=f"Known endings: {', '.join(_KINDS)}.",
        )
    where = path.resolve() if source else path
    inside = where.parent == directory.resolve() or source is None
    parts = {
        "id": _slug(directory.resolve().name),
        "kind": kind,
        "path": _quoted(where.name if inside else str(where)),
        "person": person,
        "table": table,
        "file": table if kind == "duckdb" else _quoted(where.name),
        "organisation": organisation.replace('"', "'"),
        "columns": "".join(f"      {name}: {_TEXT.format()}\n" for name in names) or _SAMPLE,
        "examples": _LATER if names else _EXAMPLES + _LATER,
    }
    return {
        name: Template(own_text("confide.service.preparing", f"starter/{name}")).substitute(parts)
        for name in ("dataset.yaml", "study.yaml")
    }


def _require_name(option: str, name: str, *, hint: str) -> None:
    if not _NAME.fullmatch(name):
        raise ContractError(
            f"Expected {option} as a name of letters, digits and _, got {name!r}.", hint=hint
        )


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "dataset"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _write(path: Path, text: str) -> bool:
    """Write a file unless it exists; return whether it was written."""
    try:
        create_text(path, text)
    except FileExistsError:
        return False
    return True

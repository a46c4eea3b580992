"""Scores of pairs by Splink, on a locked connection that reads no file and no network.

*Privacy:* exact scores are secret and stay in the job.  What the engine says of a failure may hold
cells and is dropped.
"""

import contextlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from confide.errors import ContractError, EngineError, MissingExtraError
from confide.jobs.linkage.assignment import ScoredPairs
from confide.jobs.linkage.frozen_model import RECORD

_FIRST, _SECOND = "a", "b"
"""Names of the tables; Splink puts them in this order."""

_MARGIN = 0.999
"""Of the threshold that Splink is told, so that what counts is decided on the grid alone."""

LONGEST_COMPARED = 1000
"""Characters of a text that are compared.  A distance of two texts takes memory, or time, that
grows with the product of their lengths: one long cell would make the job fail after the charge."""

Texts = Mapping[str, Sequence[str | None]]

MOST_PAIRS = 100_000_000
"""Pairs that blocking rules may make, of all rules together.  Splink holds all of them, some 40
bytes each, and nothing else bounds its memory; beyond, a linkage fails after its charge."""


def require_splink() -> None:
    """Refuse to go on where Splink is not installed; before a charge.

    Raises:
        MissingExtraError: If it is not.
    """
    try:
        import splink  # noqa: F401
    except ImportError:
        raise MissingExtraError("splink", extra="linkage") from None


def try_model(model: str, *, fields: Sequence[str]) -> None:
    """Score one made-up row against itself, so that a model is tried before anything is charged.

    Raises:
        ContractError: If Splink refuses the model; MissingExtraError if it is not installed.
    """
    require_splink()
    row: Texts = {f"t{i}": ["made-up"] for i in range(len(fields))}
    try:
        score_pairs(row, row, fields=fields, model=model, least=0, steps=1)
    except EngineError:
        raise ContractError(
            "Splink does not take the model.",
            hint="Each comparison ends with ELSE, and one level a comparison may be of nulls.",
        ) from None


def score_pairs(
    first: Texts, second: Texts, *, fields: Sequence[str], model: str, least: int, steps: int
) -> ScoredPairs:
    """Return every pair of at least a score; of a text the first 1,000 characters are compared.

    Args:
        first: Columns ``t0, t1, …`` of the first table, in the order of the fields.
        second: The same of the second.
        fields: Names that the model calls them by.
        model: Of :func:`confide.jobs.linkage.frozen_model.read_frozen_model`.
        least: Score on the grid, from which pairs count.
        steps: Grid points of a score of 1; scores are rounded down.

    Raises:
        EngineError: If blocking rules make more than MOST_PAIRS pairs, or scoring failed; carries
            the class of the failure and no data.
    """
    if not first["t0"] or not second["t0"]:
        return _pairs(np.zeros(0), np.zeros(0), np.zeros(0), steps=steps, least=least)
    try:
        below = least / steps * _MARGIN
        found = _predicted(first, second, fields=fields, model=model, below=below)
    except EngineError:
        raise
    except Exception as failed:  # noqa: BLE001 - whatever it is, its text may hold cells
        raise EngineError(type(failed).__name__) from None
    return _pairs(*found, steps=steps, least=least)


def _predicted(
    first: Texts, second: Texts, *, fields: Sequence[str], model: str, below: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import splink
    from splink.backends.duckdb import DuckDBAPI

    tables = {
        name: _arrow(texts, fields=fields) for texts, name in ((first, _FIRST), (second, _SECOND))
    }
    _require_few(tables, model=model)
    with _locked() as connection:
        api = DuckDBAPI(connection=connection)
        named = [api.register(of, dataset_display_name=name) for name, of in tables.items()]
        linker = splink.Linker(named, json.loads(model), log_level=logging.CRITICAL)
        made = linker.inference.predict(threshold_match_probability=below or None)
        rows = made.as_pyarrow_table().select(
            [f"{RECORD}_l", f"{RECORD}_r", "source_dataset_l", "match_probability"]
        )
    left, right = (rows[f"{RECORD}_{side}"].to_numpy() for side in "lr")
    turned = np.array(rows["source_dataset_l"].to_pylist(), dtype=object) != _FIRST
    ones, others = np.where(turned, right, left), np.where(turned, left, right)
    return ones, others, rows["match_probability"].to_numpy()


@contextlib.contextmanager
def _locked() -> Iterator[Any]:
    """Open an empty engine that reads no file and no network, and close it."""
    import duckdb

    connection = duckdb.connect(":memory:")
    try:
        for setting in ("temp_directory = ''", "python_enable_replacements = false"):
            connection.execute(f"SET {setting}")
        for setting in (
            "enable_external_access",
            "autoload_known_extensions",
            "autoinstall_known_extensions",
            "allow_community_extensions",
        ):
            connection.execute(f"SET {setting} = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()


def _require_few(tables: Mapping[str, object], *, model: str) -> None:
    """Fail where blocking rules make too many pairs, which are counted and not held."""
    left = MOST_PAIRS
    with _locked() as connection:
        for name, of in tables.items():
            connection.register(name, of)
        for rule in json.loads(model)["blocking_rules_to_generate_predictions"]:
            made = f"SELECT 1 FROM a AS l JOIN b AS r ON ({rule}) LIMIT {left + 1}"  # noqa: S608
            left -= connection.sql(made).count("*").fetchall()[0][0]  # rules are our own text
            if left < 0:
                raise EngineError("TooManyPairs")


def _arrow(texts: Texts, *, fields: Sequence[str]) -> "object":
    import pyarrow as pa

    columns = {name: pa.array(_cut(texts[f"t{i}"]), pa.string()) for i, name in enumerate(fields)}
    return pa.table({RECORD: pa.array(range(len(texts["t0"])), pa.int64()), **columns})


def _cut(texts: Sequence[str | None]) -> list[str | None]:
    return [text and text[:LONGEST_COMPARED] for text in texts]


def _pairs(
    first: np.ndarray, second: np.ndarray, chance: np.ndarray, *, steps: int, least: int
) -> ScoredPairs:
    """Return pairs with scores clipped to [0, 1] and rounded down to the grid; NaN is 0."""
    known = np.nan_to_num(np.asarray(chance, dtype=np.float64), nan=0.0)
    score = np.floor(np.clip(known, 0, 1) * steps).astype(np.int64)
    kept = score >= least
    return ScoredPairs(
        first=np.asarray(first)[kept].astype(np.int64),
        second=np.asarray(second)[kept].astype(np.int64),
        score=score[kept],
    )

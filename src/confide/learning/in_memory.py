"""Rows that a caller holds in memory: columns of declared types, and the key of a fit on them."""

import hmac
from typing import Any

import numpy as np

from confide.errors import ContractError
from confide.learning.columns import Feature, column, label, numbers
from confide.learning.ledger_folder import ledger_folder
from confide.release.keys import read_order_key
from confide.workspace import FOLDER

ROWS, PATIENT, OUTCOME = "rows", "patient", "outcome"


def frame_of(table: Any, y: Any, patients: Any, *, features: tuple[Feature, ...]) -> Any:
    """Return the rows as Arrow columns, of types that depend on the declaration alone.

    Args:
        table: Rows; shape (rows, columns).
        y: Outcomes; shape (rows,).
        patients: Id of each row's patient; its place when None.
        features: Of the columns.

    Raises:
        ContractError: If they have different numbers of rows.
    """
    import pyarrow as pa

    found: dict[str, Any] = {}
    for place, feature in enumerate(features):
        values = column(table, place)
        found[feature.name] = (
            pa.array([label(value) for value in values], type=pa.string())
            if feature.labels
            else pa.array(numbers(values, name=feature.name), type=pa.float64())
        )
    outcomes, rows = np.asarray(y).ravel(), len(found[features[0].name])
    ids = np.arange(rows) if patients is None else np.asarray(patients).ravel()
    if len(outcomes) != rows or len(ids) != rows:
        raise ContractError("Expected X, y and patients to have equally many rows.")
    found[OUTCOME] = pa.array([label(value) for value in outcomes], type=pa.string())
    found[PATIENT] = pa.array([label(value) for value in ids], type=pa.string())
    return pa.table(found)


def request_of(digest: str, frame: Any, *, workspace: object) -> str:
    """Return the request key of a plan on rows: a keyed digest, which tells nothing without key.

    Args:
        digest: Of the plan.
        frame: By :func:`frame_of`.
        workspace: That names the ledger's folder.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, frame.schema) as stream:
        stream.write_table(frame)
    key = read_order_key(ledger_folder(workspace) / FOLDER)
    content = digest.encode() + sink.getvalue().to_pybytes()
    return hmac.new(key, content, "sha256").hexdigest()[:32]

"""Rows of patients as an estimator is given them, and the request that they make.

*Privacy:* types of columns follow from the declaration alone.  A request is known by a keyed digest
of plan and rows: the same fit on the same rows is the stored release, and the digest in the ledger
tells nothing to whoever lacks the folder's key.

References:
    [RFC2104] Krawczyk, Bellare, Canetti. HMAC: keyed-hashing for message authentication. 1997.
        https://www.rfc-editor.org/rfc/rfc2104
"""

import hmac
from collections.abc import Mapping
from typing import Any

import numpy as np

from confide.errors import ContractError
from confide.learning.columns import Feature, column, label, numbers
from confide.learning.ledger_folder import ledger_folder
from confide.release.keys import read_order_key
from confide.workspace import FOLDER


def private_rows(table: Any, *, features: tuple[Feature, ...], texts: Mapping[str, Any]) -> Any:
    """Return rows as an Arrow table.

    Args:
        table: Features; shape (rows, columns).
        features: As they were declared, in the order of the columns.
        texts: Outcome and ids by name, one for each row.

    Raises:
        ContractError: If a column has another type than declared, or another number of rows.
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
    rows = len(found[features[0].name])
    for name, given in texts.items():
        values = np.asarray(given).ravel()
        if len(values) != rows:
            raise ContractError(f"Expected as many values of {name} as rows in X.")
        found[name] = pa.array([label(value) for value in values], type=pa.string())
    return pa.table(found)


def request_of(plan_digest: str, *, rows: Any, workspace: object) -> str:
    """Return the key that the same plan on the same rows has, and no other.

    Args:
        plan_digest: Of the plan.
        rows: Arrow table.
        workspace: Of the estimator, opened before.
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    key = read_order_key(ledger_folder(workspace) / FOLDER)
    content = plan_digest.encode() + sink.getvalue().to_pybytes()
    return hmac.new(key, content, "sha256").hexdigest()[:32]

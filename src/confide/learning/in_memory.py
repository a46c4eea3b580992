"""Rows that a caller holds in memory: columns of declared types, and the key of a fit on them."""

import hmac
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError
from confide.files.public.private_places import WORKSPACE
from confide.learning.columns import Feature, label, numbers, plain
from confide.learning.containers import cells, columns_of
from confide.learning.ledger_folder import ledger_folder
from confide.release.quiet import no_warnings
from confide.release.site.keys import read_order_key
from confide.rows.sources.object_cells import object_id

ROWS, PATIENT, OUTCOME = "rows", "patient", "outcome"

_NOBODYS = {"b": "booleans", "c": "complex numbers", "M": "moments", "m": "durations"}
"""Kinds of types of NumPy of which no value is a person id."""


def frame_of(
    table: Any,
    beside: Mapping[str, NDArray[Any]],
    patients: Any,
    *,
    features: tuple[Feature, ...],
    texts: Collection[str] = (OUTCOME,),
) -> Any:
    """Return the rows as Arrow columns, of types that depend on the declaration alone.

    Args:
        table: Rows; shape (rows, columns).
        beside: Outcomes and the like by name; each of shape (rows,).
        patients: Id of each row's patient, by :func:`identity`; None where rows are protected one
            by one: a row's place is nobody's id.
        features: Of the columns.
        texts: Which of those beside are categories.

    Raises:
        ContractError: If they have different numbers of rows.
    """
    import pyarrow as pa

    found: dict[str, Any] = {}
    held = columns_of(table, width=len(features))
    for feature, values in zip(features, held, strict=True):
        found[feature.name] = _arrow(values, name=feature.name, text=bool(feature.labels))
    rows = len(found[features[0].name])
    ids = None if patients is None else _ids(patients)
    if any(len(values) != rows for values in (*beside.values(), *([] if ids is None else [ids]))):
        raise ContractError("Expected X, y and patients to have equally many rows.")
    for name, values in beside.items():
        found[name] = _arrow(values, name=name, text=name in texts)
    if ids is not None:
        found[PATIENT] = pa.array([identity(value) for value in ids], type=pa.string())
    return pa.table(found)


def _ids(patients: Any) -> NDArray[Any]:
    """Return the id of each row's patient; ContractError of a type that identifies nobody."""
    found = np.asarray(cells(patients).ravel())
    if found.dtype.kind in _NOBODYS:
        raise ContractError(
            f"patients holds {_NOBODYS[found.dtype.kind]}, which cannot identify a person.",
            hint="Person ids are integers or text.",
        )
    return found


def identity(value: Any) -> str | None:
    """Return an id as text; None of what identifies nobody, as in frames.

    Example:
        >>> identity(7.0), identity(2.0**53), identity(2**53 + 1)
        ('7', None, '9007199254740993')
    """
    try:
        return object_id(plain(value))
    except Exception:  # noqa: BLE001 - an array: a refusal would tell
        return None


def require_outcomes(y: Any) -> None:
    """Refuse a fit without outcomes."""
    if y is None:
        raise ContractError("The model requires y to be passed, but the target y is None.")


def column_of(y: Any) -> NDArray[Any]:
    """Return outcomes as one column; ContractError if there are none."""
    require_outcomes(y)
    return np.asarray(cells(y).ravel())


def _arrow(values: NDArray[Any], *, name: str, text: bool) -> Any:
    import pyarrow as pa

    with no_warnings(), np.errstate(all="ignore"):  # that a cell is odd is not public
        if text:
            return pa.array([label(value) for value in values], type=pa.string())
        return pa.array(numbers(np.asarray(values), name=name), type=pa.float64())


def request_of(digest: str, frame: Any, *, workspace: object, word: str | None) -> str:
    """Return the request key of a plan on rows: a keyed digest, which tells nothing without key.

    Args:
        digest: Of the plan.
        frame: By :func:`frame_of`.
        workspace: That names the ledger's folder.
        word: By which the same fit is asked for again; None the first time.

    Raises:
        ContractError: If the word is none.
    """
    import pyarrow as pa

    if word is not None and (not isinstance(word, str) or not word):
        raise ContractError(
            f"Expected request as a word, got {str(word)[:40]!r}.",
            hint='Write fit(..., request="second") to be charged for the same fit again.',
        )

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, frame.schema) as stream:
        stream.write_table(frame)
    key = read_order_key(ledger_folder(workspace) / WORKSPACE)
    content = digest.encode() + sink.getvalue().to_pybytes()

    def tag(said: bytes) -> str:
        return hmac.new(key, said, "sha256").hexdigest()[:32]

    found = tag(content)
    return found if word is None else tag(f"{found} {word}".encode(errors="surrogatepass"))

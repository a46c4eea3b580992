"""Bounded rows of patients as columns of whole numbers, secret until a job hides them."""

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from confide.errors import EngineError


class RecordRows:
    """Rows of patients, by patient and place; dies inside the job.

    Example:
        >>> found = {"p": np.array(["b", "a"]), "rk": np.array([1, 1]), "e0": np.array([3, 5]),
        ...          "fold": np.array([0, 1])}
        >>> rows = RecordRows(found, columns=1, most=1)
        >>> print(rows)
        <secret>
        >>> rows.reveal_to_job()["e0"].tolist()  # ordered by patient
        [5, 3]
    """

    __slots__ = ("__columns", "__other", "__texts")

    def __init__(
        self,
        found: Mapping[str, NDArray[Any]],
        *,
        columns: int,
        most: int,
        texts: int = 0,
        other: "RecordRows | None" = None,
    ) -> None:
        """Order the columns of :func:`records_query`.

        Args:
            found: As the engine gives them.
            columns: How many are whole numbers; texts follow them.
            most: Rows that a patient may have.
            texts: How many are texts.
            other: Rows of a second table.

        Raises:
            EngineError: If a patient has more rows than they may.
        """
        ids, patient = np.unique(np.asarray(found["p"]), return_inverse=True)
        if patient.size and int(np.bincount(patient).max()) > most:
            raise EngineError("contribution bound not enforced")
        rank = np.asarray(found["rk"], dtype=np.int64)
        order = np.lexsort((rank, patient))
        ordered = {"patient": patient.astype(np.int64)[order]}
        for name in (*(f"e{i}" for i in range(columns)), "fold"):
            ordered[name] = np.asarray(found[name], dtype=np.int64)[order]
        self.__columns: Mapping[str, NDArray[np.int64]] = ordered
        self.__texts: dict[str, list[str | None]] = {}
        if texts:
            self.__texts["id"] = [str(ids[place]) for place in ordered["patient"]]
        for place in range(texts):
            column = np.ma.asarray(found[f"e{columns + place}"])
            lacks = np.ma.getmaskarray(column)[order].tolist()  # filling with None fills with "?"
            cells = zip(np.ma.getdata(column)[order].tolist(), lacks, strict=True)
            self.__texts[f"t{place}"] = [
                None if v is None or missing else str(v) for v, missing in cells
            ]
        self.__other = other

    def reveal_to_job(self) -> Mapping[str, NDArray[np.int64]]:
        """Return ``patient`` (from 0), ``e0, e1, …`` and ``fold``, each of shape (rows,)."""
        return self.__columns

    def reveal_texts_to_job(self) -> Mapping[str, list[str | None]]:
        """Return ``id`` and ``t0, t1, …`` of the same rows in the same order, where texts are read.

        A missing text is None.
        """
        return self.__texts

    @property
    def other(self) -> "RecordRows | None":
        """Rows of the second table, where there is one."""
        return self.__other

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        return "<secret>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("Rows of patients are secret: they cannot be pickled.")

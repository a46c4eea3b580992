"""A made-up cohort with follow-up, events, survey weights and admissions; and its declaration."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from confide.plans.public_numbers import PublicNumber
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.schema import Column, Dataset, Kind
from noisy_answers import dataset

PATIENTS = 1500
BANDS = ("0-39", "40-64", "65-100")
EDGES = (0, 40, 65, 101)
DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))
STANDARD = tuple(
    PublicNumber(keys=(band,), value=Fraction(share))
    for band, share in zip(BANDS, (60, 28, 12), strict=True)
)
REFERENCE = tuple(
    PublicNumber(keys=(band,), value=Fraction(rate))
    for band, rate in zip(BANDS, ("12.5", "40", "90"), strict=True)
)


def followed(
    *, measure: Measure = Measure.PURE, adjacency: Adjacency = Adjacency.ADD_REMOVE
) -> Dataset:
    """The clinic of ``noisy_answers``, with time at risk, admissions and a weight."""
    to = dataset(measure=measure, adjacency=adjacency)
    people, visits = to.tables
    more = (
        Column(name="days", kind=Kind.NUMBER, source="days", lower=0, upper=3650, unit="d"),
        Column(name="admissions", kind=Kind.NUMBER, source="admissions", lower=0, upper=4),
        Column(
            name="weight",
            kind=Kind.NUMBER,
            source="weight",
            lower=0,
            upper=40,
            scale=Fraction(1, 10),
        ),
    )
    people = replace(people, columns=(*people.columns, *more), weight="weight")
    return replace(to, tables=(people, visits))


def people(seed: int = 5) -> Any:
    """The rows of the participants, some values of which are unknown."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    age = rng.integers(0, 101, PATIENTS)
    days = np.rint(rng.uniform(30, 3650, PATIENTS))
    risk = np.minimum(0.9, 0.02 + 0.004 * age) * days / 3650
    frame = pd.DataFrame(
        {
            "pid": np.arange(PATIENTS),
            "sex": rng.choice(["male", "female"], PATIENTS),
            "diabetes": np.where(rng.random(PATIENTS) < risk, "yes", "no"),
            "age": age,
            "pressure": np.clip(np.rint(rng.normal(110 + age / 3, 18)), 80, 200),
            "bmi": 25.0,
            "born": pd.Timestamp("1980-01-01"),
            "city": "Ulm",
            "days": days,
            "admissions": np.minimum(rng.poisson(days / 1500), 4),
            "weight": np.round(rng.uniform(0.3, 3.9, PATIENTS), 1),
        }
    )
    frame.loc[::11, "days"] = np.nan
    frame.loc[5::17, "weight"] = np.nan
    frame.loc[3::19, "age"] = np.nan
    return frame


def frames() -> dict[str, Any]:
    """All tables."""
    import pandas as pd

    visits = pd.DataFrame({"pid": [0], "ward": ["a"], "days": [1], "reason": ["fever"]})
    return {"participants": people(), "visits": visits}

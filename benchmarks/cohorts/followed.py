"""Public cohorts with follow-up: covariates known at the start, within public bounds, and events.

What is missing is the middle of its bounds, with an indicator where that is common.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from confide.tables.aggregates.descent_terms import UNIT

STEPS = 1000
"""Steps of a covariate between its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """Covariates within public bounds as steps 0..STEPS, days of follow-up and the event."""

    names: tuple[str, ...]
    steps: np.ndarray
    days: np.ndarray
    event: np.ndarray
    edges: tuple[int, ...]

    def terms(self) -> np.ndarray:
        """Return the terms without intercept, as the model has them."""
        return (2 * self.steps - STEPS) * UNIT // STEPS / UNIT


def within(values: pd.Series, bounds: tuple[float, float]) -> np.ndarray:
    """Return values as steps between bounds; missing ones are in the middle."""
    low, high = bounds
    whole = np.rint((values.clip(low, high) - low) / (high - low) * STEPS)
    return whole.fillna(STEPS // 2).to_numpy(dtype=np.int64)


def flchain(folder: Path) -> Followed:
    """Return free light chains and death: 7,874 residents of Olmsted County."""
    d = pd.read_parquet(folder / "survival/flchain.parquet")
    bounds = {"age": (50, 100), "kappa": (0, 10), "lambda": (0, 10), "creatinine": (0.4, 4)}
    found = {name: within(d[name], of) for name, of in bounds.items()}
    found["male"] = (d.sex.astype(str).str[0] == "M").to_numpy() * STEPS
    found["mgus"] = (d.mgus == 1).to_numpy() * STEPS
    found["no creatinine"] = d.creatinine.isna().to_numpy() * STEPS
    return Followed(
        names=tuple(found),
        steps=np.column_stack(list(found.values())),
        days=d.futime.to_numpy(dtype=np.int64),
        event=(d.death == 1).to_numpy(),
        edges=(0, 730, 1461, 2191, 2922, 3652, 5300),
    )


def framingham(folder: Path) -> Followed:
    """Return the Framingham Heart Study and coronary disease: 4,699 persons."""
    d = pd.read_parquet(folder / "cohort/Framingham.parquet")
    bounds = {
        "num_age": (30, 70),
        "num_sbp": (90, 200),
        "num_dbp": (50, 120),
        "num_scl": (120, 350),
        "num_bmi": (15, 40),
    }
    found = {name: within(d[name], of) for name, of in bounds.items()}
    found["male"] = (d.fac_sex == 1).to_numpy() * STEPS
    return Followed(
        names=tuple(found),
        steps=np.column_stack(list(found.values())),
        days=d.time.to_numpy(dtype=np.int64),
        event=(d.event == 1).to_numpy(),
        edges=(0, 1826, 3652, 5479, 7305, 9131, 12000),
    )


def veteran(folder: Path) -> Followed:
    """Return the Veterans' Administration lung cancer trial and death: 137 men."""
    d = pd.read_parquet(folder / "survival/veteran.parquet")
    bounds = {"karno": (0, 100), "diagtime": (0, 60), "age": (30, 85)}
    found = {name: within(d[name], of) for name, of in bounds.items()}
    found["new treatment"] = (d.trt == 2).to_numpy() * STEPS
    found["prior therapy"] = (d.prior > 0).to_numpy() * STEPS
    for cells in ("smallcell", "adeno", "large"):
        found[cells] = (d.celltype == cells).to_numpy() * STEPS
    return Followed(
        names=tuple(found),
        steps=np.column_stack(list(found.values())),
        days=d.time.to_numpy(dtype=np.int64),
        event=(d.status == 1).to_numpy(),
        edges=(0, 30, 90, 180, 365, 1000),
    )


def whas(folder: Path) -> Followed:
    """Return the Worcester Heart Attack Study and death: 461 patients."""
    d = pd.read_parquet(folder / "survival/whas500.parquet")
    bounds = {
        "num_age": (30, 100),
        "num_hr": (40, 160),
        "num_sysbp": (70, 230),
        "num_diasbp": (30, 130),
        "num_bmi": (15, 45),
    }
    found = {name: within(d[name], of) for name, of in bounds.items()}
    for name in ("gender", "cvd", "afb", "sho", "chf", "av3", "miord", "mitype"):
        found[name] = (d[f"fac_{name}"] == 1).to_numpy() * STEPS
    return Followed(
        names=tuple(found),
        steps=np.column_stack(list(found.values())),
        days=d.time.to_numpy(dtype=np.int64),
        event=(d.event == 1).to_numpy(),
        edges=(0, 30, 180, 365, 730, 1461, 2400),
    )


def leukaemia(folder: Path) -> Followed:
    """Return acute myeloid leukaemia in north-west England and death: 1,043 patients."""
    d = pd.read_parquet(folder / "survival/LeukSurv.parquet")
    bounds = {
        "num_age": (14, 95),
        "num_wbc": (0, 200),
        "num_tpi": (-7, 10),
        "num_xcoord": (0, 1),
        "num_ycoord": (0, 1),
    }
    found = {name: within(d[name], of) for name, of in bounds.items()}
    sex = d.fac_sex.astype(str)
    found["sex"] = (sex == sex.max()).to_numpy() * STEPS
    return Followed(
        names=tuple(found),
        steps=np.column_stack(list(found.values())),
        days=d.time.to_numpy(dtype=np.int64),
        event=(d.event == 1).to_numpy(),
        edges=(0, 30, 90, 180, 365, 1000, 5000),
    )

"""The selection of texts that become categories: its mechanism, and what it is charged."""

from fractions import Fraction

from confide.errors import ContractError
from confide.noise.threshold import KeyThreshold, touched_keys
from confide.plans.events import JobEvent
from confide.plans.pricing.choosing import greatest_root
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.tables.schema import Dataset

SELECTING = "categories"
"""Name of the part in which texts are selected, to be categories."""


def text_selection(
    *, epsilon: Fraction, rho: Fraction, delta: Fraction, most_rows: int, adjacency: Adjacency
) -> KeyThreshold:
    """Return the selection that an amount buys.

    Args:
        epsilon: In pure DP; 0 where ρ is named.
        rho: In zCDP, of which it takes the greatest ε with ε²/2 ≤ ρ.
        delta: Beside it.
        most_rows: Rows that a patient keeps, and so the most texts.
        adjacency: What the guarantee compares.
    """
    return KeyThreshold(
        epsilon=epsilon or greatest_root(2 * rho),
        delta=delta,
        keys_per_person=most_rows,
        adjacency=adjacency,
    )


def require_kept_delta(delta: Fraction, *, dataset: Dataset) -> None:
    """Refuse a selection where its δ is none, or more than the data set keeps for selections.

    Raises:
        ContractError: If it is.
    """
    if dataset.selection_delta <= 0:
        raise ContractError(
            "Categories that nobody knows are found at a δ: a text that one patient alone has may "
            "appear. The data set allows none.",
            hint='Write accounting: {delta: "1e-6"} in dataset.yaml, or declare categories.',
        )
    if not 0 < delta <= dataset.selection_delta:
        raise ContractError(
            f"Expected a δ above 0 and at most {float(dataset.selection_delta):g}, what the data "
            f"set keeps for selections, got {float(delta):g}."
        )


def selection_event(
    selection: KeyThreshold, *, columns: int, rows: int, dataset: Dataset
) -> JobEvent:
    """Return what finding the categories of some columns draws.

    Args:
        selection: Of one column.
        columns: How many.
        rows: Public planning number.
        dataset: Public facts.

    Raises:
        ContractError: If the event is protected, or no text can be found in so many rows.
    """
    if dataset.unit.entity is Entity.EVENT:
        raise ContractError(
            "Categories are found among texts of patients, and here the event is the privacy unit.",
            hint="Declare the categories, or protect patients.",
        )
    if selection.threshold() > rows:
        raise ContractError(
            f"No text can be found: a noisy count of {selection.threshold():,} patients is needed, "
            f"and there are about {rows:,} rows.",
            hint="Spend more, give categories-share more of it, or declare the categories.",
        )
    most = selection.keys_per_person
    moved = touched_keys(most, adjacency=selection.adjacency)
    texts = "one text" if most == 1 else f"{most} texts"
    return JobEvent(
        name=SELECTING,
        noise=selection,
        l1=moved,
        l2_squared=moved,
        count=columns,
        because=f"a patient has at most {texts} of a column, and counts once for each.",
    )

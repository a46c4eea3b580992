"""A model card: every item of TRIPOD+AI, filled from the release or marked for a person."""

import re

import numpy as np
import pyarrow as pa
import pytest

from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.report.models.model_card import ITEMS, model_card
from confide.report.pages.save import save
from confide.workspace import open_workspace

N = 3_000
WORDS = load_words("en")
DATASET = {
    "dataset": {"id": "card", "lineage": "card", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"epsilon": "9"}},
    "tables": {
        "people": {
            "rows-per-patient": "1",
            "columns": {
                "age": {"kind": "number", "lower": "0", "upper": "100"},
                "ill": {"categories": ["no", "yes"]},
            },
        }
    },
}
SPEC = {
    "id": "risk",
    "kind": "logistic-regression",
    "table": "people",
    "of": {"ill": ["yes"]},
    "covariates": ["age"],
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, N)
    ill = np.where(rng.random(N) < 1 / (1 + np.exp((50 - age) / 20)), "yes", "no")
    frame = pa.table({"person_id": np.arange(N), "age": age, "ill": ill})
    folder = tmp_path_factory.mktemp("card")
    count = {"id": "n", "kind": "count", "table": "people"}
    with open_workspace(DATASET, frames={"people": frame}, folder=folder) as ws:
        return [
            ws.release(ws.plan(spec, epsilon="2"))
            for spec in ({**SPEC, "hold-out": "0.3"}, SPEC, count)
        ]


def test_every_item_of_tripod_ai_has_a_heading_and_a_text(releases):
    card = model_card(releases[0], words=WORDS)
    headings = re.findall(r"^#{2,3} (.+)$", card, re.MULTILINE)
    for heading, items in ITEMS.items():
        assert WORDS.say(f"card.heading.{heading}") in headings
        for item in items:
            assert WORDS.say(f"card.item.{item}") in headings
    assert not re.search(r"^### .+\n+#", card, re.MULTILINE)


def test_what_a_person_is_asked_stands_on_lines_of_its_own(releases):
    lines = model_card(releases[0], words=WORDS).splitlines()
    asked = [n for n, line in enumerate(lines) if line.startswith("**To be filled in by a person")]
    assert asked
    assert [lines[n - 1] for n in asked] == [""] * len(asked)


def test_what_only_people_know_is_marked_and_nothing_else_is(releases):
    card = model_card(releases[0], words=WORDS)
    asked = card.count("**To be filled in by a person:**")
    texts = [key for key in WORDS.templates if str(key).startswith("card.ask.")]
    assert asked == len(texts)


def test_numbers_of_the_card_are_those_that_were_published(releases):
    release = releases[0]
    card = model_card(release, words=WORDS)
    for each in release.of("risk"):
        if each.quantity in ("auc", "brier score", "net benefit", "observed share"):
            assert f"{each.value:.4g} ({each.lower:.4g} to {each.upper:.4g})" in card
        if each.quantity == "prediction coefficient":
            assert f"| {each.value:.4g} |" in card


def test_a_model_without_evaluation_says_so(releases):
    card = model_card(releases[1], words=WORDS)
    assert card.count("No patient was held out") == 4


def test_a_release_without_a_model_has_no_card(releases):
    with pytest.raises(ContractError, match="no model"):
        model_card(releases[2], words=WORDS)


def test_the_card_of_one_look_says_how_it_was_fitted_and_has_no_intervals(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, N)
    frame = pa.table(
        {"person_id": np.arange(N), "age": age, "ill": np.where(age > 60, "yes", "no")}
    )
    with open_workspace(DATASET, frames={"people": frame}, folder=tmp_path) as ws:
        release = ws.release(ws.plan({**SPEC, "method": "one-shot"}, epsilon="2"))
    card = model_card(release, words=WORDS)
    save(release, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert WORDS.say("headline.predicts") in page
    assert WORDS.say("chart.no-intervals") in page
    assert WORDS.say("card.analysis.one-shot") in card
    assert re.search(r"^\| age \| -?[0-9.e-]+ \| — \| — \|$", card, re.MULTILINE)

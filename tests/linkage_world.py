"""Two small made-up registers with a linkage.yaml and its frozen model, for tests of linkage."""

import csv
import json
from pathlib import Path

FIELDS = ("given_name", "surname", "born")
NAMES = ("ada", "ben", "cleo", "dora", "emil", "fay", "gus", "hana", "ivo", "june")


def level(sql, m, u):
    return {"sql_condition": sql, "label_for_charts": sql, "m_probability": m, "u_probability": u}


def missing(field):
    sql = f"{field}_l IS NULL OR {field}_r IS NULL"
    return {"sql_condition": sql, "label_for_charts": "missing", "is_null_level": True}


def model(fields=FIELDS, *, rare=0.002):
    """Splink's settings as JSON has them: the same, alike or other, for each field."""
    comparisons = [
        {
            "output_column_name": field,
            "comparison_levels": [
                missing(field),
                level(f"{field}_l = {field}_r", 0.85, rare),
                level(f"jaro_winkler_similarity({field}_l, {field}_r) >= 0.88", 0.1, 0.01),
                level("ELSE", 0.05, 0.99 - rare),
            ],
        }
        for field in fields
    ]
    return {
        "link_type": "link_only",
        "probability_two_random_records_match": 0.002,
        "blocking_rules_to_generate_predictions": [f"l.{each} = r.{each}" for each in fields],
        "comparisons": comparisons,
        "retain_matching_columns": True,
        "unique_id_column_name": "unique_id",
    }


def person(number):
    """Three fields of somebody; no two have the same."""
    return (
        f"{NAMES[number % 10]}{number}",
        f"of{NAMES[number // 10 % 10]}{number}",
        f"19{number % 90 + 10}-{number % 12 + 1:02}-{number % 28 + 1:02}",
    )


def check_that_one_person_more_scores_their_own_pairs_alone(fields=FIELDS):
    """A first person of the first table, of either ward: all other pairs score as before."""
    from confide.jobs.linkage.frozen_model import read_frozen_model
    from confide.jobs.linkage.scoring import score_pairs

    text = read_frozen_model(model(fields), fields=fields)

    def of(number):
        return (*person(number)[:2], ("north", "south")[number % 2])

    def scored(first, second):
        tables = [
            {f"t{i}": list(c) for i, c in enumerate(zip(*t, strict=True))} for t in (first, second)
        ]
        found = score_pairs(*tables, fields=fields, model=text, least=1, steps=1000)
        return zip(found.first.tolist(), found.second.tolist(), found.score.tolist(), strict=True)

    there = [of(number) for number in range(12)]
    before = set(scored(there, there))
    for more in (20, 21):
        after = scored([of(more), *there], there)
        assert {(one - 1, other, score) for one, other, score in after if one} == before


def _write(path, rows, head):
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(head)
        out.writerows(rows)


def registers(
    folder,
    *,
    first=range(60),
    second=range(40, 100),
    release=None,
    measure="pure",
    lifetime="10",
    adjacency="add-remove",
    settings=None,
    **asked,
):
    """Write two registers; persons of both ranges are in both. Return the path of linkage.yaml."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    head = ("id", *FIELDS)
    rows = [(f"a{i}", *person(i), "north" if i % 3 else "south") for i in first]
    _write(place / "registry.csv", rows, (*head, "site"))
    _write(place / "claims.csv", [(f"b{i}", *person(i)) for i in second], head)
    texts = {name: {"kind": "text"} for name in FIELDS}
    dataset = {
        "dataset": {"id": "two", "lineage": "two", "snapshot": "1"},
        "source": {"kind": "csv", "path": "."},
        "protects": {"unit": "patient", "id": "id", "adjacency": adjacency},
        "accounting": {"measure": "pure"}
        if measure == "pure"
        else {"measure": measure, "delta": "1e-6"},
        "caps": {"lifetime": {"epsilon": lifetime}},
        "tables": {
            "registry": {"columns": texts | {"site": {"categories": ["north", "south"]}}},
            "claims": {"columns": texts},
        },
    }
    (place / "dataset.yaml").write_text(json.dumps(dataset))
    (place / "model.json").write_text(json.dumps(settings or model()))
    linkage = {
        "linkage": {"id": "overlap", "title": "Registry and claims"},
        "first": "registry",
        "second": "claims",
        "fields": list(FIELDS),
        "model": "model.json",
        "because": "published parameters of another register",
        "threshold": "0.9",
        "release": release or {"overlap": True, "by": ["site"], "histogram": ["0.9", "0.99"]},
        "spend": {"epsilon": "3"},
    }
    (place / "linkage.yaml").write_text(json.dumps(linkage | asked))
    return place / "linkage.yaml"

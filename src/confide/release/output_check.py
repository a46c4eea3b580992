"""A release as ``results.json`` for output checkers, in the shape that ACRO and SACRO read.

One record a table: which rule was applied, how many cells it withheld and where.  What a checker
needs to know beyond that, that the numbers are noisy, stands in the summary and in ``properties``.

References:
    [PAB22] Preen et al. ACRO: a multi-language toolkit for supporting automated checking of
        research outputs. 2022. https://arxiv.org/abs/2212.02935
"""

import hashlib
from collections.abc import Mapping

from confide.errors import VerificationError
from confide.plans.canonical import Json
from confide.plans.house_rule import HouseRule
from confide.plans.soundness.small_cells import COUNTED, FLAG
from confide.release.certificate.form import CertificateForm, OutputPart
from confide.release.certificate.form_check import read_form
from confide.release.export import lines_of

THRESHOLD = HouseRule.ACRO.least
"""Below which a checker looks at a count, where no house rule was applied."""


def results(certificate: Json, *, tables: Mapping[str, bytes]) -> Json:
    """Return the content of results.json.

    Args:
        certificate: Of the release.
        tables: The published CSV files, by path.

    Raises:
        VerificationError: If a table is missing, or is not the one that was certified.
    """
    form = read_form(certificate, form=CertificateForm)
    found: dict[str, Json] = {}
    for output in form.outputs:
        if output.columns is None:
            continue
        content = tables.get(output.path, b"")
        if hashlib.sha256(content).hexdigest() != output.sha256:
            raise VerificationError(
                f"{output.path} is not the table that was certified.",
                hint="Run: confide verify FOLDER",
            )
        name = f"output_{len(found)}"
        found[name] = _record(name, output, content=content, form=form)
    return {"version": f"confide {form.software.version}", "results": found}


def _record(name: str, output: OutputPart, *, content: bytes, form: CertificateForm) -> Json:
    house, promised = form.small_cells, form.guarantee
    small, withheld = _cells(content)
    status = "review" if small else "pass"
    rule = "no house rule" if house is None else f"house rule {house.rule.value}"
    shown = promised.equivalent
    statistic = output.path.removeprefix("tables/").removesuffix(".csv")
    mine = [m for m in form.mechanisms if m.name.startswith(f"{statistic}/")]
    loss = f"ε = {shown.epsilon}, δ = {shown.delta or '0'}"
    unit = f"{promised.unit.value}, {promised.adjacency.value}"
    return {
        "uid": name,
        "status": status,
        "type": "table",
        "properties": {
            "method": "differential privacy",
            "certificate": form.id,
            "loss-of-the-release": loss,
            "unit": unit,
            "noise": [each.law.to_json() for each in mine],
        },
        "files": [
            {
                "name": output.path,
                "checksum": output.sha256,
                "sdc": {
                    "summary": {
                        "suppressed": bool(withheld),
                        "negative": 0,
                        "missing": 0,
                        "threshold": len(small) + len(withheld),
                        "p-ratio": 0,
                        "nk-rule": 0,
                        "all-values-are-same": 0,
                    },
                    "cells": {
                        "negative": [],
                        "missing": [],
                        "threshold": [list(place) for place in (*small, *withheld)],
                        "p-ratio": [],
                        "nk-rule": [],
                        "all-values-are-same": [],
                    },
                },
            }
        ],
        "outcome": {},
        "command": "; ".join(each.query for each in mine),
        "summary": (
            f"{status}; every number is noisy ({loss}; {unit}); {rule}: {len(withheld)} numbers "
            f"withheld, {len(small)} noisy counts below {THRESHOLD} shown"
        ),
        "timestamp": form.issued,
        "comments": [
            "A noisy count below the threshold is not a count of so few persons: read its interval."
        ],
        "exception": "",
    }


def _cells(content: bytes) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return (row, column) of noisy counts below the threshold, and of numbers withheld."""
    rows = lines_of(content.decode())
    if not rows:
        return [], []
    head, *body = rows
    value, unit, flags = (head.index(name) for name in ("value", "unit", "flags"))
    small, withheld = [], []
    for place, row in enumerate(body):
        if FLAG in row[flags].split("; "):
            withheld.append((place, value))
        elif row[unit] in COUNTED and row[value] and float(row[value]) < THRESHOLD:
            small.append((place, value))
    return small, withheld

"""What a change of the house must not move, written to a folder: run it before and after, and
compare.

    python tests/nothing_moves.py before        (in the checkout of before)
    python tests/nothing_moves.py after         (in the checkout of after)
    diff -r before after

For every kind of statistic, under each accounting, adjacency and unit that it has, for every model
that is evaluated on held-out patients, and for every example whose data are there (``--examples
FOLDER`` with a folder ``data`` for each), are written: the canonical plan, the exact vectors, the
noisy payload, estimates, forecast, a model's card, and each file of the report but the pictures
that its SVG repeats.  All randomness is that of a seeded generator, so nothing that is written here
may be released.

Left out is what no seed fixes: keys, signatures, hashes, and today's date (run both on one day).
"""

import argparse
import contextlib
import datetime as dt
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import confide
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.canonical import canonical_bytes, encode
from confide.report.models.model_card import model_card
from confide.report.pages.save import contents
from confide.rows.engines.duckdb import DuckDBEngine
from confide.workspace import Workspace

LANGUAGES = ("en",)
EPSILON = "1"
HELD_OUT: dict[str, dict[str, Any]] = {
    "logistic-regression": {"subgroups": ["sex"], "recalibrate": "line"},
    "multinomial-regression": {"subgroups": ["sex"], "recalibrate": "line"},
    "poisson-regression": {"subgroups": ["sex"], "recalibrate": "line"},
    "hazard-regression": {"subgroups": ["sex"], "recalibrate": "line"},
}
_TODAY = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d")
_UNFIXED = (
    (re.compile(_TODAY + r"(?:[ T][\d:.]+(?: UTC|Z|\+00:00)?)?"), "DATE"),
    (re.compile(r"\b[0-9a-f]{16,}\b"), "HASH"),
    (re.compile(r"[A-Za-z0-9+/_-]{43,}={0,2}"), "KEY"),
)
_PICTURES = (".png", ".parquet")


@contextlib.contextmanager
def seeded(seed: int = 0) -> Iterator[None]:
    """Let the operating system's generator be one that repeats itself."""
    generator = np.random.Generator(np.random.PCG64(seed))
    with mock.patch.object(os, "urandom", generator.bytes):
        yield


def fixed(text: str) -> str:
    """Return a text without what no seed fixes."""
    for pattern, name in _UNFIXED:
        text = pattern.sub(name, text)
    return text


def recorded(ws: Workspace, plan: Any) -> dict[str, str]:
    """Return everything of one release that must stay, by the name of its file."""
    exact: list[Any] = []
    real = DuckDBEngine.aggregate

    def kept(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = real(self, *args, **kwargs)
        exact.append(found.reveal_to_gate())
        return found

    with mock.patch.object(DuckDBEngine, "aggregate", kept):
        release = ws.release(plan)
    files = {
        "plan.json": canonical_bytes(plan.to_json()).decode(),
        "exact.txt": "\n".join(map(_plain, exact)),
        "payload.json": release.noisy.payload().decode(),
        "estimates.txt": "\n".join(map(repr, release.estimates)),
        "forecast.txt": "\n".join(f"{k}: {v!r}" for k, v in sorted(ws.forecast(plan).items())),
        "statistics.json": json.dumps([encode(each) for each in plan.statistics], indent=1),
    }
    for language in LANGUAGES:
        for name, content in contents(release, words=load_words(language)).items():
            if not name.endswith(_PICTURES):
                files[f"{language}/{name}"] = fixed(content.decode())
    with contextlib.suppress(ContractError):  # nothing that predicts
        files["card.md"] = model_card(release, words=load_words("en"))
    return {name: fixed(text) for name, text in files.items()}


def _plain(value: Any) -> str:
    """Return exact vectors as text, each number in full."""
    match value:
        case np.ndarray():
            return repr(value.tolist())
        case Mapping():
            return "\n".join(f"{k}: {_plain(v)}" for k, v in sorted(value.items(), key=repr))
        case tuple() | list():
            return "\n".join(map(_plain, value))
        case _:
            return repr(value)


def of_every_kind() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each kind under each accounting, and what is recorded of it."""
    from every_kind import GAUSSIAN_ALONE, STUDIES, dataset, frames

    for kind, study in STUDIES.items():
        for measure in ("pure", "zcdp"):
            if measure == "pure" and kind in GAUSSIAN_ALONE:
                continue
            with tempfile.TemporaryDirectory() as folder, seeded():
                world = dataset(measure=measure)
                with confide.open(world, frames=frames(), folder=Path(folder)) as ws:
                    plan = ws.plan({"id": "asked", "kind": kind, **study}, epsilon=EPSILON)
                    yield f"{kind}/{measure}", recorded(ws, plan)


def of_models() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each model that holds patients out, with a budget at which its figures are drawn."""
    from every_kind import STUDIES, dataset, frames

    for kind, more in HELD_OUT.items():
        with tempfile.TemporaryDirectory() as folder, seeded():
            world = dataset(measure="zcdp")
            with confide.open(world, frames=frames(), folder=Path(folder)) as ws:
                asked = {"id": "asked", "kind": kind, "hold-out": "0.4", **STUDIES[kind], **more}
                yield f"held-out/{kind}", recorded(ws, ws.plan(asked, epsilon="600"))


def of_examples(data: Path, examples: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each example whose data are there, and what is recorded of it."""
    for study in sorted(examples.glob("*/study.yaml")):
        name = study.parent.name
        if not (data / name / "data").is_dir():
            continue
        with tempfile.TemporaryDirectory() as folder, seeded():
            here = Path(folder) / name
            shutil.copytree(study.parent, here, ignore=shutil.ignore_patterns("data", "out"))
            (here / "data").symlink_to((data / name / "data").resolve())
            with confide.open(here / "dataset.yaml", folder=here) as ws:
                yield f"example/{name}", recorded(ws, ws.study(here / "study.yaml").plan())


def write(out: Path, found: Iterator[tuple[str, dict[str, str]]]) -> None:
    """Write what was recorded below a folder."""
    for place, files in found:
        for name, text in files.items():
            path = out / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        sys.stderr.write(f"{place}\n")


def main() -> None:
    """Write the folder that the command line names."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("out", type=Path, help="a new folder")
    ask.add_argument("--examples", type=Path, help="folder with <example>/data for each example")
    given = ask.parse_args()
    given.out.mkdir(parents=True)
    write(given.out, of_every_kind())
    write(given.out, of_models())
    if given.examples:
        here = Path(__file__).resolve().parent.parent / "examples"
        write(given.out, of_examples(given.examples, here))


if __name__ == "__main__":
    main()

"""Fuzzed studies on two neighbouring clinics: the same answer on both, no cell anywhere.

A refusal depends on declared facts only, so two clinics that differ in one (odd) patient refuse the
same studies in the same words; what succeeds leaves the same files.
"""

import random
import shutil

import pytest

from command_line import confide
from small_clinic import CANARY, make_clinic

HOSTILE = (
    "x'; drop table patients; --",
    "\"; attach '/etc/passwd' as p; --",
    "../../etc/passwd",
    "=cmd|'/C calc'!A0",
    "\\e[2J\\e[31m",
    "\u202egnp.exe",
    "%s%n{0.__class__}",
    "{{7*7}}",
    "a" * 5000,
    "NULL",
    "1e999",
    "-1",
    "0x10",
    "💉",
    "K\u212a",
    "\\0",
    "<script>alert(1)</script>",
    "pid",
)
NAMES = ("sex", "age", "diabetes", "note", "ward", "cost", "day", "age_band", "stays", "pid")
TABLES = ("patients", "visits")
KINDS = (
    "count",
    "histogram",
    "sum",
    "mean",
    "variance",
    "proportion",
    "quantiles",
    "key-selection",
)
KEYS = (
    "table",
    "column",
    "key",
    "by",
    "where",
    "of",
    "count",
    "at",
    "bins",
    "per",
    "threshold",
    "per-patient",
    "level",
    "expect",
    "error",
    "share",
    "delta",
    "title",
)
NEEDED = {
    "histogram": ("by",),
    "sum": ("column",),
    "mean": ("column",),
    "variance": ("column",),
    "quantiles": ("column",),
    "proportion": ("of",),
    "key-selection": ("key",),
}


def _quoted(text):
    return '"' + text.replace('"', "'") + '"'


def _word(dice, words):
    return _quoted(dice.choice(HOSTILE)) if dice.random() < 0.15 else dice.choice(words)


def _condition(dice):
    values = ("[yes]", "[male, female]", "[north]", "{from: 10, to: 60}", "known", "[0, 1]")
    return f"{{{_word(dice, NAMES)}: {_word(dice, values)}}}"


def _field(dice, key):
    match key:
        case "table":
            return _word(dice, TABLES)
        case "column" | "key":
            return _word(dice, NAMES)
        case "by":
            return f"[{', '.join(_word(dice, NAMES) for _ in range(dice.randint(1, 2)))}]"
        case "where" | "of":
            return _condition(dice)
        case "count":
            return _word(dice, ("patients", "events"))
        case "per-patient":
            return dice.choice(("{rows: 2}", "{cells: 2}", "{cells: 2, rows: 2}", "{rows: 0}"))
        case "error":
            return dice.choice(("{within: 60}", "{mdape: 0.2}", "{within: 0}", "{width: 1 kg}"))
        case "expect":
            return dice.choice(("{count: 100}", "{count: -1}", "{share: 0.2}"))
        case "at":
            return dice.choice(("[0.5]", "[0, 1]", "[1/3, 2/3]"))
        case _:
            return _word(dice, ("0.1", "2", "1e-8", "0", "0.9", "word"))


def study(dice):
    """Return the text of a study that is often nearly right."""
    kind = dice.choice(KINDS)
    chosen = dict.fromkeys(("table", *NEEDED.get(kind, ())))
    chosen |= dict.fromkeys(dice.sample(KEYS, dice.choice((0, 0, 1, 1, 2, 3))))
    if dice.random() < 0.5:
        chosen["per-patient"] = None
    fields = [f"{key}: {_field(dice, key)}" for key in chosen]
    fields += [f"{_word(dice, ('colour',))}: 1"] if dice.random() < 0.03 else []
    name = _word(dice, ("s1",)) if dice.random() < 0.2 else "s1"
    text = f"study: {{id: f, title: {_word(dice, ('fuzz',))}}}\nstatistics:\n"
    text += f"  - {{id: {name}, kind: {kind}, {', '.join(fields)}}}\n"
    return text + "spend: {at-most: {epsilon: 0.001}}\n"


def _answer(clinic, text, *, run):
    """Return what a study gives on a clinic, free of what may differ by chance."""
    clinic.study.write_text(text, encoding="utf-8")
    out = clinic.folder.parent / "out"  # the same name on both
    words = ("run", clinic.study, "--out", out) if run else ("plan", clinic.study)
    ran = confide(*words, "--json")
    said = ran.out + ran.err
    assert CANARY not in said
    assert "Traceback" not in said
    assert "\x1b" not in ran.err
    assert ran.code in {0, 3, 5, 7}, said
    made = {str(p.relative_to(out)) for p in out.rglob("*")} if out.exists() else set()
    files = sorted(name for name in made if "figures" not in name)  # drawn if the noise allows
    leaked = [p for p in clinic.folder.parent.rglob("*") if p.is_file() and _holds(p, clinic)]
    assert not leaked
    if out.exists():
        shutil.rmtree(out)
    return ran.code, files, ran.err if ran.code else "", ran.json["schema"]


def _holds(path, clinic):
    """Return whether a file that the command wrote holds a cell."""
    own = path.parent == clinic.folder and path.suffix in (".csv", ".yaml")
    return not own and CANARY.encode() in path.read_bytes()


def _fuzz(tmp_path, *, studies, most_runs, seed):
    dice = random.Random(seed)
    one = make_clinic(tmp_path / "one" / "clinic")
    two = make_clinic(tmp_path / "two" / "clinic", last=False)
    codes, runs = [], 0
    for _ in range(studies):
        text = study(dice)
        answers = [_answer(clinic, text, run=False) for clinic in (one, two)]
        assert answers[0] == answers[1], text
        codes.append(answers[0][0])
        if answers[0][0] == 0 and runs < most_runs:
            runs += 1
            answers = [_answer(clinic, text, run=True) for clinic in (one, two)]
            assert answers[0] == answers[1], text
            codes.append(answers[0][0])
    return codes, runs


def test_fuzzed_studies_get_the_same_answer_on_neighbouring_clinics(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    codes, runs = _fuzz(tmp_path, studies=200, most_runs=4, seed=20261121)
    assert runs == 4
    assert codes.count(7) > 66
    assert codes.count(0) > 8


@pytest.mark.audit
def test_ten_thousand_fuzzed_studies_get_the_same_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    codes, runs = _fuzz(tmp_path, studies=10_000, most_runs=200, seed=7)
    assert runs == 200
    assert codes.count(7) > 3000


def test_the_search_would_find_a_cell_in_an_error(tmp_path):
    clinic = make_clinic(tmp_path / "one" / "clinic")
    text = f"study: {{id: f}}\nstatistics: [{{id: x, kind: count, table: {CANARY}}}]\n"
    with pytest.raises(AssertionError):
        _answer(clinic, text, run=False)

"""Theorems as import rules, and what importing costs."""

import subprocess
import sys

import pytest

from pages import ROOT

HEAVY = ("numpy", "duckdb", "sqlglot", "pandas", "polars", "pyarrow", "torch", "scipy", "altair")


def _modules_after(code, *, cwd=None):
    """Names of the modules that a fresh interpreter has loaded after the code."""
    probe = f"{code}\nimport sys\nprint('|'.join(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", probe],
        check=True,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": str(cwd or ROOT)},
    )
    return set(done.stdout.strip().splitlines()[-1].split("|"))


def test_imports_point_down_and_rows_stay_hidden():
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Contracts:" in done.stdout


def test_importing_confide_loads_no_heavy_library():
    assert not _modules_after("import confide") & set(HEAVY)


def test_models_and_jobs_load_pytorch_when_they_train_and_not_before():
    verifies = "confide.service.reading.verify"
    loaded = _modules_after(f"import confide.learning, confide.jobs.kinds, {verifies}")
    assert "confide.jobs.learning.dp_sgd" in loaded
    assert not loaded & {"torch", "opacus", "safetensors", "dp_accounting", "scipy", "sklearn"}


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
def test_a_release_needs_no_numerical_accountant_and_no_frames(measure, tmp_path):
    (tmp_path / "people.csv").write_text(
        "person_id,diabetes\n" + "".join(f"{i},{'yes' if i % 9 else 'no'}\n" for i in range(90))
    )
    (tmp_path / "dataset.yaml").write_text(f"""
dataset: {{id: small, lineage: small, snapshot: "1"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: person_id, adjacency: add-remove}}
accounting: {{measure: {measure}, delta: {"1e-6" if measure == "zcdp" else "0"}}}
caps: {{lifetime: {{epsilon: 2}}}}
tables:
  people:
    from: people.csv
    rows-per-patient: 1
    columns: {{diabetes: {{categories: [yes, no]}}}}
""")
    loaded = _modules_after(
        "import confide\n"
        "with confide.open('dataset.yaml') as ws:\n"
        "    plan = ws.plan({'id': 'n', 'kind': 'histogram', 'by': ['diabetes']}, epsilon='1')\n"
        "    assert ws.release(plan).estimates\n",
        cwd=tmp_path,
    )
    assert {"confide.release.gate", "duckdb"} <= loaded
    unwanted = {"dp_accounting", "scipy", "pandas", "polars", "altair", "torch"}
    assert not loaded & unwanted

"""What Spark prints, logs and plans holds no cell of a patient and no key."""

import json
import subprocess
import sys

import pyarrow as pa
import pytest

from confide.rows.engines.spark import spark_driver as driver
from pages import DOCS, blocks
from real_command import place_of
from spark_rows import QUICK, needs_spark, stored

pytestmark = needs_spark()

CANARY, NUMBER = "zq7canary", 7_770_123
PAGE = DOCS / "tutorials" / "spark.md"
SCRIPT = r"""
import contextlib, io, json, pathlib, stat, sys, traceback
import confide
from confide.cli import app
from confide.errors import ReleaseFailedError
from confide.rows.cells.keyed_order import coefficients
from confide.rows.engines.spark import spark_engine as engine
from confide.rows.engines.spark import spark_driver as driver
from confide.rows.engines.spark import spark_session as session

logs = sys.argv[1]
driver.DRIVER = {**driver.DRIVER, "spark.eventLog.enabled": "true", "spark.eventLog.dir": logs}
driver.DRIVER["spark.eventLog.compress"] = "false"
given, plans = [], []
keys = engine.coefficients
engine.coefficients = lambda key: given.append(keys(key)) or given[-1]
bind = session.SparkRows.bind
session.SparkRows.bind = lambda rows, query: plans.append(bind(rows, query)) or plans[-1]


def command(*words):
    try:
        app(list(words))
    except SystemExit as end:
        print("exit", words[0], end.code, flush=True)


for line in sys.argv[2:]:
    command(*line.split()[1:])
folders = [each.path for each in driver._SPILLED]
modes = [oct(stat.S_IMODE(each.stat().st_mode)) for each in folders]
blocks = [path for each in folders for path in each.rglob("blockmgr-*/**/*") if path.is_file()]
print("shuffled in", modes, bool(blocks))
told = io.StringIO()
with contextlib.redirect_stdout(told):
    for plan in plans:
        plan.explain("extended")
words = [str(value) for value in given[0].values()]
shown = told.getvalue()
print("plans", len(plans), "keys in plans", sum(word in shown for word in words), flush=True)

kept = [path for path in pathlib.Path(logs).rglob("*") if path.is_file()]
texts = "".join(path.read_text(errors="replace") for path in kept)
pathlib.Path(logs, "events.txt").write_text(texts)

# a cast that fails prints the cell that it fails on: nobody may see it
written = session.written
session.written = lambda query, *, dialect: (
    written(query, dialect=dialect)
    .replace("TRY_CAST(REPLACE(", "CAST(REPLACE(")
    .replace(" RLIKE ", " IS NOT NULL OR '' RLIKE ")
)
with confide.open("dataset.yaml") as site:
    asked = {"id": "m", "kind": "mean", "table": "visits", "column": "cost"}
    asked |= {"per-patient": {"rows": 1}, "expect": {"count": 100}}
    try:
        site.release(site.plan(asked, epsilon="1"))
        print("released")
    except ReleaseFailedError as error:
        print("failed:", error, error.__cause__, error.__context__, flush=True)
        traceback.print_exc()
    print("spent", [entry.state.value for entry in site.ledger.entries("clinic")], flush=True)
with open(logs + "/words.json", "w") as file:
    json.dump(words, file)
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A study from end to end, and a failure inside Spark, in a process of its own."""
    folder = tmp_path_factory.mktemp("clinic")
    logs = tmp_path_factory.mktemp("logs")
    (folder / "tables").mkdir()
    costs = [str(n % 500) for n in range(398)]
    stored(
        {
            "visits": pa.table(
                {
                    "person_id": pa.array([*(n // 2 for n in range(398)), NUMBER, NUMBER]),
                    "ward": ["north", "south"] * 199 + [CANARY, "north"],
                    "cost": [*costs, CANARY, str(NUMBER)],
                    "note": [CANARY] * 400,
                }
            )
        },
        folder / "tables",
    )
    page = blocks(PAGE)
    for block in page:
        if block.title:
            (folder / block.title).write_text(block.text, "utf-8")
    lines = [line for b in page if b.language == "sh" for line in b.text.splitlines()]
    commands = [line for line in lines if line.startswith("confide ")]
    assert len(commands) == 4, commands
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(logs), *commands],
        cwd=folder,
        env=place_of(folder, QUICK),
        capture_output=True,
        check=False,
        timeout=600,
    )
    told = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode == 0, told[-4000:]
    return told, folder, logs


def test_the_page_on_spark_is_walked_from_the_command_line(ran):
    told, folder, _ = ran
    assert "exit plan 0" in told, told
    assert "exit check 0" in told
    assert "exit prepare 0" in told
    assert "exit run 0" in told
    assert list(folder.rglob("*.html")), told


def test_what_spark_prints_holds_no_cell_of_a_patient(ran):
    told, _, _ = ran
    # `check` shows the steward a spelling of a cell on purpose: it is no part of a release
    shown = told[told.index("exit check 0") :]
    assert "failed:" in shown
    assert CANARY not in shown
    assert str(NUMBER) not in shown


def test_a_failure_inside_spark_is_burned_and_says_nothing_of_a_cell(ran):
    told, _, _ = ran
    failed = told[told.index("failed:") :]
    assert CANARY not in failed
    assert "CAST_INVALID_INPUT" not in told
    assert "'burned'" in failed, failed


def test_what_spark_shuffles_on_this_machine_is_read_by_no_other_account(ran):
    told, _, _ = ran
    assert "shuffled in ['0o700'] True" in told


def test_no_key_stands_in_a_plan_or_in_the_log_of_events(ran):
    told, _, logs = ran
    assert "keys in plans 0" in told
    words = json.loads((logs / "words.json").read_text())
    texts = (logs / "events.txt").read_text()
    assert "confide_keys" in texts  # the log has the plans
    assert not [word for word in words if word in texts]
    assert CANARY not in texts


def test_a_driver_of_ours_keeps_no_log_of_events():
    """What a task failed on would stand in it: the cell that a broken cast prints."""
    assert driver.DRIVER["spark.eventLog.enabled"] == "false"
    assert driver.DRIVER["spark.ui.enabled"] == "false"

"""Values below the first edge and above the last: plan, run and report say what becomes of them."""

import pytest

from command_line import confide
from confide.service.synthesis.outside_bins import outside_bins
from confide.service.synthesis.plan import declared_synthesis
from synth_clinic import clinic
from synthesis_world import dataset, job
from synthetic_warehouse import ASKED, town

SAID = {
    "leave-out": "Values of 'age' below 30 and above 90 lie in no bin: their rows are left out, of "
    "all columns, so that fewer than 3,000 may count. Edges from 0 to 100 keep them.",
    "level": "Values of 'age' below 30 and above 90 lie in no bin, and count as missing. Edges "
    "from 0 to 100 keep them.",
}


@pytest.mark.parametrize("missing", list(SAID))
def test_values_outside_of_the_edges_are_named_by_plan_run_and_report(tmp_path, missing):
    columns = {"age": {"bins": [30, 60, 90]}, "sex": {}, "died": {}}
    file = clinic(tmp_path, columns=columns, missing=missing)
    assert SAID[missing] in confide("synth", "plan", file, "--json").json["warnings"]
    made = confide("synth", "run", file, "--out", tmp_path / "out")
    assert SAID[missing] in made.out
    report = (tmp_path / "out" / "report.html").read_text()
    assert SAID[missing].partition(" lie in no bin")[2] in report


def test_edges_that_reach_the_bounds_leave_nothing_to_say():
    assert outside_bins(job(), dataset=dataset()) == ()


def test_of_events_the_kind_and_its_values_are_named(tmp_path):
    years = ["2012-01-01", "2015-01-01", "2019-12-31"]
    of = {"of": "systolic", "dates": years, "number": "value", "values": [120, 140, 220]}
    declared = declared_synthesis(town(tmp_path, events=ASKED["events"] | {"pressure": of}))
    dataset = declared.asked_of(declared.declared.dataset)
    said = outside_bins(declared.job, dataset=dataset)
    assert said[:2] == (
        "Values of 'bleed_later' below 0 and above 91 lie in no bin, and count as missing.",
        "Events 'pressure' before 2012-01-01 are none of the kind.",
    )
    (value,) = said[2:]
    assert value.startswith("Values of 'pressure_value' below 120 lie in no bin")
    assert value.endswith("and count as missing. Edges from 80 to 220 keep them.")

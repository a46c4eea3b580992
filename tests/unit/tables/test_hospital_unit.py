"""With the hospital as privacy unit no statistic is planned: rows of patients bound none."""

from dataclasses import replace

import pytest

from confide.attacks.audit.generated_schema import schema
from confide.attacks.audit.searched import statistics_of_patients
from confide.errors import ConfideError
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity

STATISTICS = {  # "big" ones are searched on a grid that no plan would take
    each.id: each for each in statistics_of_patients() if not each.id.startswith("big")
}


def planned(statistic, entity):
    dataset = schema(databases=1, entity=Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
    unit = replace(dataset.unit, entity=entity)
    dataset = replace(dataset, unit=unit)
    ask = Ask(statistic=statistic)
    return make_plan([ask], study=Study(id="s"), dataset=dataset, nano=100_000_000)


@pytest.mark.parametrize("name", sorted(STATISTICS))
def test_every_statistic_is_planned_for_patients_and_refused_for_hospitals(name):
    assert planned(STATISTICS[name], Entity.PATIENT).measurements
    with pytest.raises(ConfideError, match="hospital"):
        planned(STATISTICS[name], Entity.HOSPITAL)

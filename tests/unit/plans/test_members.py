"""Members that some kinds of statistic have: each kind that has one has it of its type."""

import inspect

import cohorts
from confide.plans import contribution, plan
from confide.statistics.registry import kind_of
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not

TYPES = {
    "by": tuple,
    "covariates": tuple,
    "edges": tuple,
    "of": (All, AnyOf, Between, Everything, IsIn, Not),
    "outcome": str,
    "events": str,
    "time": (str, type(None)),
    "column": str,
    "counted": contribution.Counted,
    "per_patient": contribution.PerPatient,
}
NO_CONDITION = {"series"}
"""Of which numbers a series is stands under the same name; no reader takes it for a condition."""


def _protocols():
    for module in (plan, contribution):
        for _, each in inspect.getmembers(module, inspect.isclass):
            if each.__module__ == module.__name__ and getattr(each, "_is_runtime_protocol", False):
                yield each, [name for name, of in vars(each).items() if isinstance(of, property)]


def test_each_member_that_readers_ask_for_is_one_that_some_kind_has_of_its_type():
    found = set()
    for statistic in cohorts.every_statistic():
        for protocol, names in _protocols():
            if isinstance(statistic, protocol):
                found |= set(names)
                for name in names:
                    if name == "of" and kind_of(statistic).name in NO_CONDITION:
                        continue
                    assert isinstance(getattr(statistic, name), TYPES[name]), (statistic, name)
    assert found == set(TYPES)

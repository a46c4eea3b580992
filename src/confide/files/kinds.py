"""The kinds of statistic that study.yaml knows, told apart by ``kind``: a strict model of each.

Keys and forms stand in the section of a statistic's folder; here they become a model that refuses
unknown keys, and what it reads becomes the section again.
"""

import dataclasses
import functools
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, create_model

from confide.files import texts
from confide.files.where import read_where
from confide.statistics.registry import KINDS as _REGISTERED
from confide.statistics.registry import STATISTICS
from confide.statistics.section import Form, StatisticSection
from confide.tables.schema import Dataset

KINDS: tuple[str, ...] = tuple(STATISTICS)
"""Every word that ``kind`` may be."""

_FORMS: Mapping[Form, Any] = {
    Form.EXACT: texts.Exact,
    Form.POSITIVE: texts.Positive,
    Form.LEVEL: texts.Level,
    Form.COUNTING: texts.Counting,
    Form.QUANTITY: texts.Quantity,
    Form.DAY: texts.Day,
    Form.DIGITS: texts.Digits,
    Form.CONDITION: dict[str, Any],
}


def with_conditions(section: StatisticSection, *, table: str, dataset: Dataset) -> StatisticSection:
    """Return a section in which conditions are read: predicates over the rows of a table.

    Raises:
        ContractError: If a name, label, number or date does not fit.
    """
    hints = get_type_hints(type(section), include_extras=True)
    read: dict[str, Any] = {
        name: read_where(getattr(section, name) or {}, table=table, dataset=dataset)
        for name, hint in hints.items()
        if any(Form.CONDITION in get_args(part) for part in (hint, *get_args(hint)))
    }
    return dataclasses.replace(section, **read)


@functools.cache
def _model(section: type[Any]) -> type[texts.Section]:
    """Return the strict model of a section or of a part of one."""
    hints = get_type_hints(section, include_extras=True)
    fields: dict[str, Any] = {}
    for each in dataclasses.fields(section):
        fields[each.name] = (_typed(hints[each.name]), _default(each))
    for kind in _REGISTERED:
        if kind.section is section:
            fields["kind"] = (Literal[kind.name], ...)
    made: type[texts.Section] = create_model(
        section.__name__, __base__=texts.Section, __doc__=section.__doc__, **fields
    )
    if issubclass(section, StatisticSection):
        made.instead = section.instead
    return made


def _default(each: Any) -> Any:
    if each.default_factory is not dataclasses.MISSING:
        return Field(default_factory=each.default_factory)
    return ... if each.default is dataclasses.MISSING else each.default


def _typed(hint: Any) -> Any:
    """Return the type that reads what a hint says."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        if hint.__metadata__ == (Form.TWO_OR_MORE,):
            return Annotated[_typed(parts[0]), Field(min_length=2)]
        return _FORMS[hint.__metadata__[0]]
    if origin in (types.UnionType, Union):
        return _either(tuple(map(_typed, parts)))
    if origin in (list, dict):
        return origin[tuple(map(_typed, parts))]
    if not dataclasses.is_dataclass(hint):
        return hint
    part: Any = hint
    return Annotated[_model(part), AfterValidator(functools.partial(_plain, part))]


def _either(parts: tuple[Any, ...]) -> Any:
    """Return one of several forms; a name or a mapping are told apart first, for its errors."""
    if len(parts) == 2 and parts[0] is str and get_origin(parts[1]) is Annotated:
        name, variable = Annotated[str, Tag("name")], Annotated[parts[1], Tag("variable")]
        return Annotated[Union[name, variable], Discriminator(_form)]  # noqa: UP007 - at run time
    return Union[parts]  # noqa: UP007 - at run time


def _form(value: object) -> str:
    return "name" if isinstance(value, str) else "variable"


def _plain(section: type[Any], read: texts.Section) -> Any:
    """Return what a model read as the section that it was made of."""
    return section(**{name: getattr(read, name) for name in type(read).model_fields})


def _statistic(read: texts.Section) -> StatisticSection:
    kind = next(kind for kind in _REGISTERED if kind.name == getattr(read, "kind", None))
    found: StatisticSection = _plain(kind.section, read)
    return found


_OTHER_WORDS = {
    "median": "quantiles, with at: [0.5]",
    "quartiles": "quantiles, with at: [0.25, 0.5, 0.75]",
    "percentiles": "quantiles",
    "quantile": "quantiles",
    "difference-of-medians": "median-difference",
    "average": "mean",
    "total": "sum",
    "sd": "variance",
    "prevalence": "proportion",
    "percentage": "proportion",
    "table1": "table-1",
    "characteristics": "table-1",
    "completeness": "data-quality",
    "rate": "incidence, or proportion where there is no time at risk",
    "incidence-rate": "incidence",
    "standardised-rate": "standardized-rate",
    "kaplan-meier": "survival",
    "log-rank": "survival, with by: [arm]",
    "chi-square": "chi-squared-test",
    "t-test": "two-means-test",
    "regression": "linear-regression, or logistic-regression for a condition",
    "logistic": "logistic-regression",
    "multinomial": "multinomial-regression",
    "softmax": "multinomial-regression",
    "poisson": "poisson-regression",
    "cox": "hazard-regression (Cox's partial likelihood is not a sum over patients)",
    "cox-regression": "hazard-regression (Cox's partial likelihood is not a sum over patients)",
}


def _kind(value: object) -> object:
    """Send other words for a statistic to the one that is known."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind in KINDS:
        return value
    if kind.lower() in _OTHER_WORDS:
        raise ValueError(f"unknown kind {kind!r}; write kind: {_OTHER_WORDS[kind.lower()]}")
    raise ValueError(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")


_SECTIONS: tuple[Any, ...] = tuple(kind.section for kind in _REGISTERED)
_KNOWN: Any = Union[tuple(map(_model, _SECTIONS))]  # noqa: UP007 - at run time

AnyStatistic: Any = Annotated[
    Annotated[_KNOWN, Field(discriminator="kind")],
    BeforeValidator(_kind),
    AfterValidator(_statistic),
]
"""One item of ``statistics``."""

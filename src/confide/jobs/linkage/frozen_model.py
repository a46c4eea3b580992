"""A linkage model of Splink that is fixed before any row is read, and looks at two rows alone.

*Lemma.*  The score of a pair is a function of its two rows and of public numbers: every condition
is a total function of the pair (:mod:`.pair_conditions`); m and u of each level are written out; no
term frequencies, which are counted in the tables, no sampling and no training; no field has a name
by which Splink chooses rows.  So a person who comes or goes changes the scores of their own pairs
and of no others.  ∎

*Privacy:* the model is part of the plan.  That it was not trained on these rows is the steward's
word, which ``because`` keeps.

References:
    [FS69] Fellegi, Sunter. A theory for record linkage. JASA 64(328), 1969.
        https://doi.org/10.1080/01621459.1969.10501049
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from confide.errors import ContractError, UnknownNameError
from confide.jobs.linkage.pair_conditions import require_equal_parts, written_condition
from confide.plans.canonical import canonical_bytes

RECORD = "record"
"""Column of the number of a row; no field may be called so."""

_NAMES_OF_SPLINK = frozenset({RECORD, "source_dataset"})
"""Columns of each row that Splink gives a meaning of its own.  Where a table has a source_dataset,
Splink links those rows alone that have the first row's: one person would move all pairs."""

_FIELD = re.compile(r"[a-z][a-z0-9_]{0,40}", re.ASCII)
_IGNORED = frozenset(
    {
        "additional_columns_to_retain",
        "bayes_factor_column_prefix",
        "comparison_vector_value_column_prefix",
        "em_convergence",
        "linker_uid",
        "max_iterations",
        "retain_intermediate_calculation_columns",
        "retain_matching_columns",
        "source_dataset_column_name",
        "sql_dialect",
        "term_frequency_adjustment_column_prefix",
        "unique_id_column_name",
    }
)
"""Keys of Splink that say nothing of a score; ours are written in their place."""

_MODEL = frozenset(
    {
        "link_type",
        "probability_two_random_records_match",
        "blocking_rules_to_generate_predictions",
        "comparisons",
    }
)
_COMPARISON = frozenset({"output_column_name", "comparison_levels", "comparison_description"})
_LEVEL = frozenset(
    {
        "sql_condition",
        "label_for_charts",
        "is_null_level",
        "m_probability",
        "u_probability",
        "fix_m_probability",
        "fix_u_probability",
        "tf_adjustment_column",
        "tf_adjustment_weight",
        "tf_minimum_u_value",
        "disable_tf_exact_match_detection",
    }
)
_ELSE = "ELSE"


def read_frozen_model(value: Any, *, fields: tuple[str, ...]) -> str:
    """Return the canonical JSON text of a model, of what is scored by and nothing else.

    Args:
        value: As Splink writes it (``linker.misc.save_model_to_json``), read from JSON.
        fields: Declared columns that both tables have.

    Raises:
        ContractError: If it is not frozen, or looks at more than the two rows of a pair.
    """
    if not isinstance(value, Mapping):
        raise ContractError("Expected the settings of Splink: one JSON object.")
    _require_known(value, known=_MODEL | _IGNORED, where="The model")
    if value.get("link_type") != "link_only":
        raise ContractError(
            "The model does not link one table with another.", hint="Write link_type: link_only."
        )
    for name in fields:
        if not _FIELD.fullmatch(name):
            raise ContractError(
                "Expected fields of small letters, digits and underscores.",
                hint="Declare the column by such a name, with source: what it is called there.",
            )
    for name in sorted(_NAMES_OF_SPLINK.intersection(fields)):
        raise ContractError(
            f"No field may be called {name}, which means something else to Splink.",
            hint="Declare the column by another name, with source: what it is called there.",
        )
    comparisons = [_comparison(each, fields=fields) for each in _list(value, "comparisons")]
    rules = _list(value, "blocking_rules_to_generate_predictions")
    model = {
        "link_type": "link_only",
        "probability_two_random_records_match": _chance(
            value.get("probability_two_random_records_match"), of="a match at random"
        ),
        "blocking_rules_to_generate_predictions": [_rule(each, fields=fields) for each in rules],
        "comparisons": comparisons,
        "unique_id_column_name": RECORD,
    }
    return canonical_bytes(model).decode()


def require_frozen(text: str, *, fields: tuple[str, ...]) -> None:
    """Refuse the text of a plan that :func:`read_frozen_model` would not have written.

    Raises:
        ContractError: If it is another.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise ContractError("The model of the linkage cannot be read.") from None
    if read_frozen_model(value, fields=fields) != text:
        raise ContractError("The model of the linkage is not in its canonical form.")


def _comparison(value: Any, *, fields: tuple[str, ...]) -> dict[str, Any]:
    _require_known(value, known=_COMPARISON, where="A comparison")
    name = str(value.get("output_column_name", ""))
    if name not in fields:
        raise UnknownNameError("field", name, known=fields)
    levels = [_level(each, of=name, fields=fields) for each in _list(value, "comparison_levels")]
    return {"output_column_name": name, "comparison_levels": levels}


def _level(value: Any, *, of: str, fields: tuple[str, ...]) -> dict[str, Any]:
    _require_known(value, known=_LEVEL, where=f"A level of {of!r}")
    if value.get("tf_adjustment_column"):
        raise ContractError(
            f"Comparison {of!r} adjusts for term frequencies, which are counted in the tables.",
            hint="Leave tf_adjustment_column out.",
        )
    sql = str(value.get("sql_condition", ""))
    if sql.strip().upper() != _ELSE:
        columns = {f"{field}_{side}": f'"{field}_{side}"' for field in fields for side in "lr"}
        sql = written_condition(sql, columns=columns, where=f"Comparison {of!r}")
    else:
        sql = _ELSE
    level: dict[str, Any] = {"sql_condition": sql, "label_for_charts": sql}
    if value.get("is_null_level"):
        return level | {"is_null_level": True}
    for key in ("m_probability", "u_probability"):
        level[key] = _chance(value.get(key), of=f"{key} of {of!r}")
    return level


def _rule(value: Any, *, fields: tuple[str, ...]) -> str:
    if isinstance(value, Mapping):
        _require_known(value, known={"blocking_rule", "sql_dialect"}, where="A blocking rule")
        value = value.get("blocking_rule")
    columns = {f"{side}.{field}": f'{side}."{field}"' for field in fields for side in "lr"}
    written = written_condition(str(value), columns=columns, where="A blocking rule")
    require_equal_parts(written, where="A blocking rule")
    return written


def _require_known(value: Any, *, known: "frozenset[str] | set[str]", where: str) -> None:
    if not isinstance(value, Mapping):
        raise ContractError(f"{where}: expected a JSON object.")
    for key in value:
        if key not in known:
            raise ContractError(
                f"{where} has {str(key)[:60]!r}, which is not known here.",
                hint="Leave it out: scores come of m, u and conditions alone.",
            )


def _list(value: Mapping[str, Any], key: str) -> Iterator[Any]:
    found = value.get(key)
    if not isinstance(found, list) or not found:
        raise ContractError(f"The model has no {key}.")
    return iter(found)


def _chance(value: Any, *, of: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ContractError(
            f"The model has no number for {of}.", hint="Write all of m and u: nothing is trained."
        )
    if not 0 < value < 1:  # nor what is no number; integers of any size are compared exactly
        raise ContractError(f"Expected {of} between 0 and 1.")
    return float(value)

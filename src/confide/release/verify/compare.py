"""Two certificates side by side: which promise is stronger, if that can be said at all.

Two losses can be ranked if they are about the same thing: one privacy unit, one adjacency, one
trust model, one measure, one δ, one window.  "ε = 1 a patient" is no stronger and no weaker than
"ε = 2 an event", "ε = 1 under substitution" or "ε = 0.3 every month"; saying so is the most common
mistake in comparing such releases [DKM19].

References:
    [DKM19] Dwork, Kohli, Mulligan. Differential privacy in practice: expose your epsilons! Journal
        of Privacy and Confidentiality 9(2), 2019. https://doi.org/10.29012/jpc.689
"""

import enum
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import ContractError
from confide.plans.canonical import Json
from confide.release.certificate.lines import Difference, differences
from confide.release.verify.arithmetic import exact
from confide.release.verify.versions import supersedes

SHOWN = ("release", "data", "guarantee", "mechanisms", "accounting", "small-cells")
_EACH = ("hash", "previous", "entry", "payload-sha256", "commitment", "query-sha256")
"""Members that differ between any two releases and say nothing about them."""
_AGAIN = ("equivalents", "in-words", "groups", "membership-advantage", "noise", "expected")
"""Members that say again, in other words, what stands beside them."""


class Order(enum.Enum):
    """Which of two promises is the stronger one."""

    FIRST = "the first promises more: its loss is smaller"
    SECOND = "the second promises more: its loss is smaller"
    EQUAL = "both promise the same"
    NONE = "they cannot be ranked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two certificates have in common, and what not.

    Attributes:
        order: Which promise is stronger.
        because: Why they cannot be ranked; empty where they can.
        versions: How one follows the other; empty where neither does.
        lines: Every line that differs, but for those that always do.
    """

    order: Order
    because: tuple[str, ...]
    versions: str
    lines: tuple[Difference, ...]


def compare(first: Json, second: Json) -> Comparison:
    """Return the comparison of two certificates; neither is verified here.

    Raises:
        ContractError: If one has no guarantee that could be compared.
    """
    try:
        because = tuple(_unlike(first, second))
        order = Order.NONE if because else _ranked(first, second)
        lines = [each for name in SHOWN for each in _lines(first, second, name)]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ContractError(
            "One of the files is no certificate of a release that was charged.",
            hint="Give two certificate.json, or their folders.",
        ) from None
    return Comparison(
        order=order, because=because, versions=_versions(first, second), lines=tuple(lines)
    )


def _unlike(first: Json, second: Json) -> list[str]:
    """Return why two losses are not about the same thing."""
    found = []
    one, other = first["guarantee"], second["guarantee"]
    for name, means in (
        ("unit", "an ε protects what its unit names, nothing more"),
        ("adjacency", "a loss under substitution is about other pairs of data sets"),
        ("trust", "a loss that needs a trusted curator is another promise"),
    ):
        if one[name] != other[name]:
            found.append(f"{name}: {one[name]} and {other[name]}; {means}")
    spends = one["spend"]["measure"], other["spend"]["measure"]
    if spends[0] != spends[1]:
        found.append(
            f"measure: {spends[0]} and {spends[1]}; compare their equivalents at one δ instead"
        )
    for what, deltas in (
        ("δ", [exact(g["equivalent"].get("delta", "0")) for g in (one, other)]),
        ("δ of key selections", [exact(g["spend"].get("delta", "0")) for g in (one, other)]),
    ):
        if deltas[0] != deltas[1]:
            told = " and ".join(f"{float(delta):g}" for delta in deltas)
            found.append(f"{what}: {told}; a smaller ε at a larger δ need not promise more")
            break
    windows = [_window(each) for each in (first, second)]
    if windows[0] != windows[1]:
        told = " and ".join(windows)
        found.append(f"window: {told}; what one release costs says nothing of a year of them")
    return found


def _window(certificate: Json) -> str:
    """Return over what time a loss is spent: once, or again each period."""
    periods = {
        str(charge["scope"]).partition("/")[0] for charge in certificate["accounting"]["charges"]
    } - {"release", "lifetime", "lifetime-delta"}
    again = "again each period" if certificate["release"].get("period") else "once"
    return f"{again}, under {' and '.join(sorted(periods)) or 'lifetime'} caps"


def _ranked(first: Json, second: Json) -> Order:
    losses: list[Fraction] = []
    for each in (first, second):
        spend = each["guarantee"]["spend"]
        losses.append(exact(spend.get("rho", spend.get("epsilon"))))
    if losses[0] == losses[1]:
        return Order.EQUAL
    return Order.FIRST if losses[0] < losses[1] else Order.SECOND


def _lines(first: Json, second: Json, name: str) -> list[Difference]:
    found = differences(_shown(first.get(name, {})), _shown(second.get(name, {})), line=name)
    return list(found)


def _shown(node: Json) -> Json:
    """Return a part as it is compared: lists of named things by name."""
    match node:
        case dict():
            return {name: _shown(each) for name, each in node.items() if name not in _EACH + _AGAIN}
        case [{"name": _}, *_] if len({str(each["name"]) for each in node}) == len(node):
            return {str(each["name"]): _shown(each) for each in node}
        case [{"scope": _}, *_]:
            return {str(each["scope"]): _shown(each) for each in node}
        case list():
            return [_shown(each) for each in node]
        case _:
            return node


def _versions(first: Json, second: Json) -> str:
    for newer, older, words in (
        (first, second, "the first supersedes the second"),
        (second, first, "the second supersedes the first"),
    ):
        link = supersedes(newer)
        if link is not None and link[0] == older.get("id"):
            same = link[1] == older["accounting"].get("payload-sha256")
            return words if same else f"{words}, but names other numbers than these"
    return ""

"""Made-up patients, for a picture that may be shown: where they live says much of what they have.

*Privacy:* drawn by coins; nobody is in it.
"""

from collections.abc import Sequence

from confide.attacks.lab.own_table import OwnTable, coded
from confide.noise.entropy import Entropy, uniform_below

_PATIENTS = 1000
_AREAS, _USUAL_OF_100 = 40, 80
_CONDITIONS = ("asthma", "diabetes", "HIV", "depression")


def example_table(*, entropy: Entropy) -> OwnTable:
    """Return patients of an age, sex, zip code and condition.

    Example:
        >>> from confide.noise.entropy import SystemEntropy
        >>> list(example_table(entropy=SystemEntropy()).quasi)
        ['age', 'sex', 'zip']
    """

    def drawn(bound: int) -> Sequence[int]:
        found: list[int] = uniform_below(bound, count=_PATIENTS, entropy=entropy).tolist()
        return found

    areas = drawn(_AREAS)
    usual = [_CONDITIONS[area * len(_CONDITIONS) // _AREAS] for area in areas]
    other = [(*_CONDITIONS, "flu")[place] for place in drawn(len(_CONDITIONS) + 1)]
    is_usual = [chance < _USUAL_OF_100 for chance in drawn(100)]
    return OwnTable(
        quasi={
            "age": coded([str(18 + age) for age in drawn(78)]),
            "sex": coded(["FM"[sex] for sex in drawn(2)]),
            "zip": coded([str(30300 + area) for area in areas]),
        },
        sensitive=coded(
            [a if same else b for a, b, same in zip(usual, other, is_usual, strict=True)]
        ),
        sensitive_name="condition",
        made_up=True,
    )

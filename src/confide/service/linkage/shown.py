"""What a linkage released, as rows of text: after it ran, and out of its folder.

*Privacy:* functions of published files; they cost nothing.
"""

from collections.abc import Sequence
from pathlib import Path

from confide.errors import VerificationError
from confide.jobs.kinds import read_spec
from confide.jobs.linkage.numbers import LinkageNumber, estimates, read_linkage
from confide.jobs.linkage.spec import LINKAGE_FILE, Linkage
from confide.release.verify.verify_job import answer_in

HEAD = ("", "of", "about", "95 % interval", "")


def released_numbers(folder: Path) -> tuple[LinkageNumber, ...]:
    """Return the numbers of the linkage in a folder, with intervals.

    Raises:
        VerificationError: If it holds none, or a file was changed.
        OSError: If a file cannot be read.
    """
    answer = answer_in(folder)
    spec = read_spec(answer.plan.kind, answer.plan.spec)
    if not isinstance(spec, Linkage):
        raise VerificationError(f"{folder.name} holds no linkage.")
    told = read_linkage(answer.files[LINKAGE_FILE], spec=spec)
    return estimates(told, spec=spec, dataset=answer.plan.dataset)


def rows_of_linkage(told: Sequence[LinkageNumber]) -> tuple[tuple[str, ...], ...]:
    """Return quantity, group, value, interval and flag of each number, as texts."""
    return tuple(_row(each) for each in told)


def _row(each: LinkageNumber) -> tuple[str, ...]:
    places = ".3f" if each.quantity == "share linked" else "g"
    about = "not told" if each.value is None else f"{each.value:{places}}"
    interval = f"{each.lower:{places}} to {each.upper:{places}}"
    return (each.quantity, each.of, about, interval, each.flag)

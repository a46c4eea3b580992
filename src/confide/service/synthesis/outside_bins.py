"""Values that lie in no bin of a synthesis: what becomes of them, in words.

*Privacy:* from declared bounds and edges alone; how many such values there are, nobody counts.
"""

from confide.jobs.synthesis.asked import AnySynthesis
from confide.jobs.synthesis.event_kind import EventKind
from confide.tables.conditions.conditions import shown
from confide.tables.expression import BinOf, OrMissing
from confide.tables.relation import domain
from confide.tables.schema import Dataset, Kind


def outside_bins(job: AnySynthesis, *, dataset: Dataset) -> tuple[str, ...]:
    """Return a sentence on each column whose edges leave out some of what is declared.

    Args:
        job: With its columns, in bins.
        dataset: Public facts, with the per-patient values that the job asks for.
    """
    kinds: tuple[EventKind, ...] = getattr(job, "kinds", ())  # tables of events alone have some
    first = {kind.first: kind.name for kind in kinds}
    spans = {kind.later for kind in kinds}  # whose bounds follow from the edges
    found = []
    for name, of in zip(job.columns, job.reads.reads, strict=True):
        read = of.of if isinstance(of, OrMissing) else of
        if not isinstance(read, BinOf) or not (beyond := _beyond(read, dataset=dataset)):
            continue
        if name in first:
            found.append(f"Events {first[name]!r} {beyond} are none of the kind.")
            continue
        fix = "" if name in spans else f" {_fix(read, dataset=dataset)}"
        if isinstance(of, OrMissing):
            found.append(f"Values of {name!r} {beyond} lie in no bin, and count as missing.{fix}")
        else:
            found.append(
                f"Values of {name!r} {beyond} lie in no bin: their rows are left out, of all "
                f"columns, so that fewer than {job.rows:,} may count.{fix}"
            )
    return tuple(found)


def _beyond(read: BinOf, *, dataset: Dataset) -> str:
    """Return which declared values lie beyond the edges, in words; "" if none do."""
    within = domain(read.of, dataset=dataset)
    below, above = ("before", "after") if within.kind is Kind.DATE else ("below", "above")
    parts = []
    if within.lower < read.edges[0]:
        parts.append(f"{below} {shown(read.edges[0], of=within)}")
    if read.edges[-1] < within.upper:
        parts.append(f"{above} {shown(read.edges[-1], of=within)}")
    return " and ".join(parts)


def _fix(read: BinOf, *, dataset: Dataset) -> str:
    within = domain(read.of, dataset=dataset)
    lower, upper = (shown(end, of=within) for end in (within.lower, within.upper))
    return f"Edges from {lower} to {upper} keep them."

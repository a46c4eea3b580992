"""Every kind of job by name, and how its settings are read back, for verifiers."""

import json

from confide.errors import ConfideError
from confide.jobs.learning.dp_sgd import DPSGD
from confide.plans.canonical import Json, decode
from confide.plans.job import Job
from confide.statistics import NAMES

KINDS: dict[str, type[Job]] = {"dp-sgd": DPSGD}


def read_spec(kind: str, text: str) -> Job | None:
    """Return the job that canonical JSON text describes; None where it is not known, or broken.

    Args:
        kind: Of the job.
        text: Its settings, as a plan holds them.
    """
    known = KINDS.get(kind)
    if known is None:
        return None
    try:
        value: Json = json.loads(text)
        job: Job = decode(known, value, names=NAMES)
    except (ValueError, RecursionError, ConfideError):
        return None
    return job

"""The stored answer of a job: its plan and the files that it made, as one string of bytes.

The first line is canonical JSON: the plan, and path, size and SHA-256 of each file; the files
follow, one after another.  It is what the ledger stores and what a retry returns; published, the
line is ``job.json`` and the files lie beside it.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from confide.errors import ContractError, VerificationError
from confide.plans.canonical import Json, canonical_bytes
from confide.plans.job import JobPlan
from confide.plans.plan import Study
from confide.release.noisy import read_payload
from confide.statistics import read_job

FORMAT = "confide-job-1"
JOB_PATH = "job.json"
_PATH = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\.[a-z0-9]{1,20}")
_LONGEST = 2**34


@dataclass(frozen=True, slots=True, kw_only=True)
class JobAnswer:
    """What a job made; public.

    Attributes:
        plan: That it followed.
        files: Contents by name.
        added: Names of the sites that are in it, of a job over sites.
    """

    plan: JobPlan
    files: Mapping[str, bytes]
    added: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for path in self.files:
            if not _PATH.fullmatch(path) or path in (JOB_PATH, "certificate.json"):
                raise ContractError("A job named a file that it may not.")

    def head(self) -> bytes:
        """Return the canonical line that names plan and files."""
        files = [
            {"path": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for path, content in sorted(self.files.items())
        ]
        head = {"format": FORMAT, "plan": self.plan.to_json(), "files": files}
        return canonical_bytes(head | ({"added": list(self.added)} if self.added else {}))

    def payload(self) -> bytes:
        """Return the bytes that the ledger stores."""
        return b"\n".join(
            (self.head(), b"".join(content for _, content in sorted(self.files.items())))
        )

    def digest(self) -> str:
        """Return the SHA-256 of the payload."""
        return hashlib.sha256(self.payload()).hexdigest()


def read_answer(payload: bytes) -> JobAnswer:
    """Return the answer that a payload holds.

    Raises:
        VerificationError: If the bytes are no payload of this format.
    """
    head, _, rest = payload.partition(b"\n")
    plan, listed, added = read_head(head)
    files, place = {}, 0
    for path, size, sha256 in listed:
        content = rest[place : place + size]
        if len(content) != size or hashlib.sha256(content).hexdigest() != sha256:
            raise VerificationError("A file of the job was changed or cut off.")
        files[path], place = content, place + size
    if place != len(rest):
        raise VerificationError("The payload of the job holds more than its files.")
    return JobAnswer(plan=plan, files=files, added=added)


def read_head(
    head: bytes,
) -> tuple[JobPlan, tuple[tuple[str, int, str], ...], tuple[str, ...]]:
    """Return the plan, path, size and SHA-256 of each file, and sites, that a first line names.

    Raises:
        VerificationError: If it is none of this format.
    """
    try:
        body: Json = json.loads(head)
        if body["format"] != FORMAT:
            raise VerificationError("Expected the answer of a job in this format.")
        plan = read_job(body["plan"])
        listed = tuple(
            (str(each["path"]), int(each["size"]), str(each["sha256"])) for each in body["files"]
        )
        added = tuple(str(name) for name in body.get("added", ()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
        if isinstance(broken, VerificationError):
            raise
        raise VerificationError("The answer of the job cannot be read.") from None
    names = [path for path, _, _ in listed]
    safe = all(_PATH.fullmatch(path) for path in names) and names == sorted(set(names))
    if not safe or not all(0 <= size <= _LONGEST for _, size, _ in listed):
        raise VerificationError("The answer of the job names files that it may not.")
    members = () if plan.federation is None else (site.name for site in plan.federation.sites)
    if [name for name in members if name in added] != list(added):
        raise VerificationError("The answer of the job names sites that its plan does not.")
    return plan, listed, added


def is_answer(payload: bytes) -> bool:
    """Return whether a stored payload is the answer of a job."""
    try:
        read_answer(payload)
    except VerificationError:
        return False
    return True


def stored_study(payload: bytes) -> Study:
    """Return why a stored answer was made, of a job or of statistics.

    Raises:
        VerificationError: If it is neither.
    """
    try:
        return read_payload(payload).plan.study
    except VerificationError:
        return read_answer(payload).plan.study

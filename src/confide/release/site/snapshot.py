"""The snapshot of a release under way: digested beside the reading, committed to afterwards.

Digesting starts when reading does, in a thread (hashing leaves the interpreter free), and only if
rows are read at all: an answer that the ledger holds already keeps the commitment it had.  What is
digested is what the engine opened: it says in which state it found the files, and there is a
commitment only if they are in that state after the last row was read.  Of what earlier parts of a
job were made nobody knows any more, so one that goes on has none.

*Privacy:* see :mod:`.commitment`; a failure here never stops a release, and says nothing of rows.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from confide.budget.ledger import Entry
from confide.release.site.commitment import (
    Opening,
    commit,
    opening_of,
    require_place,
    snapshot_digest,
)
from confide.rows.sources.fingerprint import SourceState
from confide.tables.schema import Dataset
from confide.tables.source import Source

READ = "read"
"""Stage of the gate at which rows are read."""
RESUMED = "resume"
"""Stage at which a job in parts goes on from a part that was made before."""


class Snapshot:
    """Files of a source while a release is made of them.

    Args:
        state: As the engine opened them.
        folder: The steward's.
    """

    def __init__(self, *, state: SourceState, folder: Path) -> None:
        require_place(folder)
        self._state = state
        self._folder = folder
        self._digest: Future[bytes | None] | None = None
        self._resumed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="snapshot")

    def watched(self, progress: Callable[[str], None]) -> Callable[[str], None]:
        """Return a listener that starts to digest when reading begins."""

        def told(stage: str) -> None:
            self._resumed = self._resumed or stage == RESUMED
            if stage == READ:
                self._digest = self._thread.submit(
                    snapshot_digest, self._state, folder=self._folder
                )
            progress(stage)

        return told

    def opening(self, entry: Entry) -> Opening | None:
        """Return the commitment of an entry: the one it has, or a new one if rows were just read.

        None where the source is in memory, or its files changed since the engine opened them, or
        parts were made of files as they were before, or an earlier delivery was cut off before it
        had committed, or there is no place to keep it.
        """
        try:
            held = opening_of(self._folder, entry=entry.hash)
            if held is not None or self._digest is None:
                return held
            digest = self._digest.result()
            if digest is None or self._resumed or not self._state.holds():
                return None
            return commit(self._folder, entry=entry.hash, snapshot=digest)
        except OSError:  # a file went away, or the disk is full: nothing to commit to
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def source_state(source: Source, *, base: Path, dataset: Dataset) -> SourceState:
    """Return what the files of a source are like now; no row is read."""
    from confide.rows.sources.prepare import state_of

    return state_of(source, base=base, dataset=dataset)

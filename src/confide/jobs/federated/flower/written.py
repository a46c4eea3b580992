"""Letters as Flower carries them: one record of names and bytes."""

from typing import Any

from confide.errors import MessageRefusedError
from confide.jobs.federated.flower.mailbox import Letter

TYPE = "query.letter"
_RECORD = "letter"


def written_letter(letter: Letter) -> Any:
    """Return a letter as the content of a message of Flower."""
    from flwr.app import ConfigRecord, RecordDict

    record = ConfigRecord(
        {
            "held": sorted(letter.held),
            "names": [name for name, _ in letter.files],
            "files": [content for _, content in letter.files],
        }
    )
    return RecordDict({_RECORD: record})


def read_letter(content: Any) -> Letter:
    """Return the letter in a message's content.

    Raises:
        MessageRefusedError: If it holds none.
    """
    record = content.get(_RECORD)
    try:
        held, names, files = (list(record[key]) for key in ("held", "names", "files"))
    except (KeyError, TypeError):
        raise MessageRefusedError("A message came that is no letter.") from None
    texts, whole = all(isinstance(name, str) for name in (*held, *names)), len(names) == len(files)
    if not texts or not whole or not all(isinstance(file, bytes) for file in files):
        raise MessageRefusedError("A message came that is no letter.")
    return Letter(held=frozenset(held), files=tuple(zip(names, files, strict=True)))

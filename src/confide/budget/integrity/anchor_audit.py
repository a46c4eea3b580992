"""What the lines of the anchor say beside the rows of the ledger.

*Privacy:* a line that is missing, of another history or unsigned is the only sign of an older
ledger that was put back; each is named, and an officer has to go on.
"""

from collections.abc import Collection, Iterator, Sequence

from confide.budget.accounts.book import Book
from confide.budget.chain.chain import SignedHead, is_signed
from confide.budget.chain.identity import SiteFolder
from confide.budget.integrity.anchor_line import Line


def keys_for(book: Book, head: SignedHead | Line | None, *, public_key: str) -> frozenset[str]:
    """Return the keys under which a line is accepted."""
    return book.signing.since(0 if head is None else head.number) | {public_key}


def last_accepted(heads: Sequence[Line | None], *, accepted: Collection[str]) -> int:
    """Return the place of the last line by which an officer went on; 0 if there is none.

    Only rows of the chain count, whose hashes are ``accepted``.  A line that was there before does
    not count: it may have been copied to hide what followed.
    """
    start, seen = 0, set()
    for place, head in enumerate(heads):
        if head is None or head.hash in seen:
            continue
        seen.add(head.hash)
        if head.hash in accepted:
            start = place
    return start


def missing_anchor(
    site: SiteFolder | None, book: Book, *, is_empty: bool, most: int | None
) -> Iterator[str]:
    """Yield that a folder has lost its anchor, where the number of missing lines does not say so.

    The anchor of a host that is new to a ledger is empty as well, but its folder has had no ledger.
    A crash, or a folder that is not there, may leave the first row without its line, and other
    hosts may go on by then: a folder that never wrote a line has none to lose.

    Args:
        site: What the folder knows of its ledger.
        book: What all rows add up to.
        is_empty: Whether the anchor has no line.
        most: As of :func:`anchor_differences`.
    """
    if most is not None or not is_empty or site is None:
        return
    if book.number > 1 and site.ledger and not site.is_unanchored:
        yield "The anchor is missing, though this folder has had the ledger."


def anchor_differences(
    heads: Sequence[Line | None],
    *,
    hashes: list[str],
    keys: Collection[str],
    most: int | None,
) -> Iterator[str]:
    """Yield what the lines since an officer last went on say otherwise than the rows.

    Args:
        heads: The lines.
        hashes: Of the rows, by number.
        keys: Under which the last line is accepted.
        most: So many lines may be missing at the end; any number if None.
    """
    last = heads[-1] if heads else None
    first = heads[0] if heads else None
    number = last.number if last is not None else 0
    if any(head is None for head in heads):
        yield "A line of the anchor cannot be read."
    numbers = [head.number for head in heads if head is not None]
    if numbers != list(range(number - len(numbers) + 1, number + 1)):
        yield "Lines of the anchor are missing or out of order."
    if first is not None and first.number != 1 and first.head().kind != "unfrozen":
        yield "The anchor does not begin at the first row."
    if number > len(hashes) - 1:
        yield "The anchor is ahead of the ledger: an older copy of the ledger was put back."
    if most is not None and number < len(hashes) - 1 - most:
        yield "The anchor is missing, or lines at its end are."
    known = [head for head in heads if head is not None and 0 < head.number < len(hashes)]
    if any(head.hash != hashes[head.number] for head in known):
        yield "The anchor holds another history than the ledger."
    if last is not None and not is_signed(last.head(), keys=keys):
        yield "The last line of the anchor is not signed by this site's key."


def unsigned_lines(
    lines: Sequence[Line | None], *, start: int, wrong: Collection[int], book: Book, key: str
) -> Iterator[str]:
    """Yield a finding for each line not signed by the key of its row's time or a later one."""
    for place, line in enumerate(lines[start:], start + 1):
        if line is None:
            continue
        if place in wrong or (
            line.key != key and line.key not in keys_for(book, line, public_key=key)
        ):
            yield f"Line {line.number} of the anchor is not signed by the key of its time."

"""Quoted cells of a CSV file that are longer than any row may be, cut before the engine reads them.

The engine reads text in buffers.  Of a quoted cell that reaches over a whole buffer into the next
one it loses count of the quotes: what follows in the cell is taken for rows, or no row after it is
read at all.  Its row is longer than :data:`~.header.LONGEST_LINE`, so it is left out anyway, whole
or cut; a cut one ends where it ended, and all other rows are what they were.

What is a quoted cell is what the engine takes for one.  A quote opens a cell at its beginning,
after one space too.  The next quote closes it, each further one opens and closes it again, and a
closed one ends before a separator or a line end, whatever stands in between.  A quote in a cell
that none opened is a character like others.

*Lemma.*  Between two cells the state of the engine is the same whatever came before.  A cell that
was cut is closed where it was closed, so it leaves the engine between the same two cells.
"""

import re
from codecs import BOM_UTF8
from typing import Final

from confide.rows.sources.header import LONGEST_LINE
from confide.tables.dialect import USUAL_QUOTE

LONGEST_CELL: Final = 2 * LONGEST_LINE


def quoted_cells(separator: str, *, quote: str) -> "QuotedCells | NoQuotes":
    """Return the quoted cells of a file; of one without quotes, none."""
    return QuotedCells(separator, quote=quote) if quote else NoQuotes()


class NoQuotes:
    """A file in which a quote is a character like others, so that each line is a row."""

    cut: Final = False

    def shortened(self, chunk: bytes) -> bytes:
        """Return the next chunk as it is: the engine passes over lines that are too long."""
        return chunk


class QuotedCells:
    """The quoted cells of one file, chunk by chunk.

    Args:
        separator: What stands between its fields.
        quote: What stands around a field.

    Attributes:
        cut: Whether a cell was.
    """

    def __init__(self, separator: str, *, quote: str = USUAL_QUOTE) -> None:
        self._ends = f"{separator}\n\r".encode()
        self._quote = q = quote.encode()
        ends = re.escape(self._ends)
        closed = rb"[^%b%b]*+" % (q, ends)
        rest = rb"%b(?:%b[^%b]*+%b%b)*+(?=[%b])" % (closed, q, q, q, closed, ends)
        opened = rb"[^%b]*+%b%b" % (q, q, rest)
        self._rest = {True: re.compile(rest), False: re.compile(opened)}
        self._cells = re.compile(rb"%b(?:[%b] ?%b%b)*+" % (opened, ends, q, opened))
        self._before = b""
        self._open = self._closed = False
        self._length = 0
        self._kept_closed = False
        self.cut = False

    def shortened(self, chunk: bytes) -> bytes:
        """Return the next chunk of the file without what is too much of a cell.

        That begins with the first whole chunk after :data:`LONGEST_CELL` bytes.
        """
        if not self._before and chunk.startswith(BOM_UTF8):
            self._before = b"\n"
            return BOM_UTF8 + self.shortened(chunk.removeprefix(BOM_UTF8))
        if self._open:
            return self._continued(chunk)
        self._follow(chunk, begin=0)
        return chunk

    def _continued(self, chunk: bytes) -> bytes:
        """Return what is kept of a chunk that begins inside a cell."""
        over = self._length > LONGEST_CELL
        self.cut |= over
        end = self._rest[self._closed].match(chunk)
        if end is not None:
            closing = b"" if self._kept_closed else self._quote
            self._open = False
            self._follow(chunk, begin=end.end())
            return closing + chunk[end.end() :] if over else chunk
        self._length += len(chunk)
        self._closed ^= bool(chunk.count(self._quote) % 2)
        if over:
            return b""
        self._kept_closed = self._closed
        return chunk

    def _follow(self, chunk: bytes, *, begin: int) -> None:
        """Find the cell that a chunk ends in, from a place of it that is in none."""
        place = chunk.find(self._quote, self._passed(chunk, begin=begin))
        while place >= 0:
            after = place + 1
            if self._opens(chunk, place):
                cells = self._cells.match(chunk, after)
                if cells is None:
                    self._begin(chunk[place:])
                    return
                after = cells.end()
            place = chunk.find(self._quote, after)
        self._before = (self._before + chunk[-2:])[-2:]

    def _passed(self, chunk: bytes, *, begin: int) -> int:
        """Return the end of the last cell before which every quote is where a writer puts it.

        There the first opens a cell, or a doubled quote inside it, and the second closes it.
        """
        import numpy as np

        octets = np.frombuffer(chunk, np.uint8)
        quotes = np.flatnonzero(octets[begin:] == ord(self._quote)) + begin
        opening, closing = quotes[: len(quotes) // 2 * 2].reshape(-1, 2).T
        ends = np.isin(np.arange(256), list(self._ends))
        doubled = np.append(False, closing[:-1] + 1 == opening[1:])
        before = opening - (octets[opening - 1] == ord(" "))
        opens = doubled | (ends[octets[before - 1]] & (before > 0))
        ended = ends[octets[np.minimum(closing + 1, len(chunk) - 1)]]
        closes = ended | np.append(doubled[1:], False)
        wrong = np.flatnonzero(~(opens & closes))
        right = ended[: wrong[0] if len(wrong) else len(ended)]
        last = np.flatnonzero(right)
        return int(closing[last[-1]]) + 1 if len(last) else begin

    def _begin(self, cell: bytes) -> None:
        self._open, self._length = True, len(cell)
        self._closed = self._kept_closed = cell.count(self._quote) % 2 == 0

    def _opens(self, chunk: bytes, place: int) -> bool:
        """Return whether a quote in no cell stands at the beginning of one."""
        before = (self._before + chunk[max(0, place - 2) : place])[-2:]
        return before.removesuffix(b" ")[-1:] in self._ends  # or nothing stands before it

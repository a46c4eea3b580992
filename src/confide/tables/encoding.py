"""Encodings of text files that can be declared: those in which an ASCII byte is itself, always.

In them no byte of a comma, a quote or a line end is part of another character, so that broken bytes
of one cell move no border of another (:mod:`confide.rows.sources.text_files`).  The encodings of
East Asia are not so.  UTF-16 is so in its units of two bytes: a comma is one unit and part of no
other character, whatever cells hold; but a byte that was lost shifts all that follow.
"""

import enum

UNREADABLE = "\ufffd"
"""What stands for bytes that cannot be decoded."""


class Encoding(enum.Enum):
    """By the name that Python knows it by."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    LATIN_1 = "latin-1"
    ISO_8859_2 = "iso-8859-2"
    ISO_8859_15 = "iso-8859-15"
    WINDOWS_1250 = "windows-1250"
    WINDOWS_1252 = "windows-1252"

"""Encodings of text files that can be declared: those in which an ASCII byte is itself, always.

In them no byte of a comma, a quote or a line end is part of another character, so that broken bytes
of one cell move no border of another (:mod:`confide.rows.sources.text_files`).  UTF-16 and the
encodings of East Asia are not so.
"""

import enum

UNREADABLE = "\ufffd"
"""What stands for bytes that cannot be decoded."""


class Encoding(enum.Enum):
    """By the name that Python knows it by."""

    UTF_8 = "utf-8"
    LATIN_1 = "latin-1"
    ISO_8859_2 = "iso-8859-2"
    ISO_8859_15 = "iso-8859-15"
    WINDOWS_1250 = "windows-1250"
    WINDOWS_1252 = "windows-1252"

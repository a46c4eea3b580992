"""Text in Markdown: what comes from files or data is shown as it is."""

import re

from confide.drawing.numbers import clean

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$!&])")


def plain(text: str) -> str:
    r"""Return text from files or data such that Markdown shows it as it is.

    Example:
        >>> print(plain("age_band <b>"))
        age\_band \<b\>
    """
    return _SPECIAL.sub(r"\\\1", clean(text, most=300))

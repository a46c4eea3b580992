"""Languages of the documents."""

import enum


class Language(enum.Enum):
    """Languages of the documents."""

    ENGLISH = "en"
    CHINESE = "zh"

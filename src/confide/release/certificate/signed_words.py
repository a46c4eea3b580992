"""Sentences under a signature: one text a language, by its tag (BCP 47).

They stand in the words files, in the table ``signed``; a language that has it is in every
certificate from then on.  A certificate that was signed before a language was added holds what it
held: it is compared in the languages that it has.
"""

from collections.abc import Callable
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, StringConstraints, WithJsonSchema

from confide.drawing.words import Words, languages, load_words
from confide.plans.canonical import Json

TABLE = "signed"
ENGLISH = "en"
"""Which language every certificate has."""

Sentences: TypeAlias = dict[str, str]
"""One sentence by the tag of its language."""

_TAG = "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"


_Tag: TypeAlias = Annotated[str, StringConstraints(pattern=_TAG)]


def _has_english(text: dict[str, str]) -> dict[str, str]:
    if ENGLISH not in text:
        raise ValueError("expected English at least")
    return text


SignedText: TypeAlias = Annotated[
    dict[_Tag, str],
    AfterValidator(_has_english),
    WithJsonSchema(
        {
            "type": "object",
            "properties": {ENGLISH: {"type": "string"}},
            "patternProperties": {_TAG: {"type": "string"}},
            "required": [ENGLISH],
            "additionalProperties": False,
            "description": "One sentence in each language, by its tag (BCP 47).",
        }
    ),
]
"""The same in a certificate that is read."""


def in_every_language(made: Callable[[Words], str]) -> Sentences:
    """Return a sentence in every language."""
    return {tag: made(load_words(tag, part=TABLE)) for tag in languages(part=TABLE)}


def signed_sentence(key: str) -> Sentences:
    """Return a sentence that holds no number, in every language."""
    return in_every_language(lambda words: words.say(key))


def in_languages_of(stated: Json, *, follows: Json) -> Json:
    """Return what follows, without the languages that a certificate was signed without.

    Args:
        stated: As it stands in the certificate.
        follows: As this version derives it.
    """
    match stated, follows:
        case {"en": str()}, {"en": str()}:
            return {tag: text for tag, text in follows.items() if tag in stated}
        case dict(), dict():
            return {
                name: in_languages_of(stated.get(name), follows=part)
                for name, part in follows.items()
            }
        case list(), list():
            short = len(follows) - len(stated)
            pairs = zip([*stated, *[None] * short], follows, strict=False)
            return [in_languages_of(one, follows=other) for one, other in pairs]
        case _:
            return follows

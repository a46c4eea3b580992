"""Every sentence that a report or an explanation prints, from files of each language.

``sentences/en.toml`` holds templates with named placeholders, in tables and lists; what only one
statistic says stands in its folder, in ``words/en.toml``.  A missing key, a missing placeholder and
an unused one are errors, so a translation cannot silently drop a number.

*Privacy:* a template sees texts that are already public.
"""

import functools
import itertools
import string
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from confide.drawing.labels import Labels, Look
from confide.drawing.numbers import clean
from confide.errors import ContractError, UnknownNameError
from confide.regular_file import own_text

_FOLDER, _OWN = "sentences", "words"
_AND = ", "  # between the values of covariates in a key


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The sentences of one language.

    Attributes:
        language: Code as in the name of the file: "en".
        templates: Dotted key to template; the items of a list are numbered "key.0", "key.1".
        labels: What columns and tables are called.
        look: How the question that is told of is shown.

    Example:
        >>> words = load_words("en")
        >>> words.say("interval", ends="120–132", level="95%")
        '95% CI 120–132'
    """

    language: str
    templates: Mapping[str, str]
    labels: Labels = field(default_factory=Labels)
    look: Look = field(default_factory=Look)

    def calling(self, labels: Labels) -> "Words":
        """Return the same words, with what columns and tables are called."""
        return replace(self, labels=labels)

    def on(self, statistic: Any) -> "Words":
        """Return the words for one question, shown as its study says."""
        return replace(self, look=self.labels.look(statistic))

    def named(self, name: str) -> str:
        """Return what a declared column is called."""
        return self.labels.named(name)

    def term(self, part: str) -> str:
        """Return a part of a key, in which columns and periods are called as people do."""
        if part in self.look.periods:
            return self.look.periods[part]
        told = [self._term(each) for each in part.split(_AND)]
        return _AND.join(told) if self.look.terms else part

    def _term(self, text: str) -> str:
        for name in self.look.terms:
            rest = text.removeprefix(name)
            if text.startswith(name) and (not rest or rest[0] in ": "):
                return self.named(name) + rest
        return text

    def say(self, key: str, /, **parts: str) -> str:
        """Return one sentence with its placeholders filled.

        Raises:
            UnknownNameError: If the language has no such key.
            ContractError: If a placeholder is missing or not used.
        """
        return self._filled((key,), parts)[0]

    def each(self, key: str, /, **parts: str) -> tuple[str, ...]:
        """Return the sentences of a list; every part is used by at least one of them.

        Raises:
            UnknownNameError: If the language has no such list.
            ContractError: If a placeholder is missing or not used.
        """
        numbered = (f"{key}.{place}" for place in itertools.count())
        keys = tuple(itertools.takewhile(self.templates.__contains__, numbered))
        return self._filled(keys or (key,), parts)

    def say_count(self, key: str, count: int, /, **parts: str) -> str:
        """Return the sentence ``key.one`` or ``key.many``, with the placeholder {count}."""
        return self.say(f"{key}.{'one' if count == 1 else 'many'}", count=f"{count:,}", **parts)

    def listed(self, items: Sequence[str], *, joint: str = "and") -> str:
        """Return items as a list in a sentence.

        Example:
            >>> load_words("en").listed(["age band", "sex", "ward"])
            'age band, sex and ward'
        """
        *most, last = items
        head = self.say("comma").join(most)
        return f"{head}{self.say(joint)}{last}" if most else last

    def unit(self, code: str) -> str:
        """Return how a unit is printed: "" for the unit 1, an unlisted UCUM code as it is.

        Example:
            >>> load_words("en").unit("mm[Hg]"), load_words("en").unit("mmol/L")
            ('mmHg', 'mmol/L')
            >>> load_words("en").unit("1"), load_words("en").unit("mm[Hg]/(kg/m2)")
            ('', 'mmHg per kg/m²')
            >>> load_words("en").unit("mm[Hg]/(a)"), load_words("en").unit("per 100")
            ('mmHg per year', '%')
        """
        above, quotient, below = code.partition("/(")
        if quotient:  # of two units: a regression's coefficient
            one = self.templates.get(f"unit-one.{below[:-1]}") or self.unit(below[:-1])
            return self.say("per", above=self.unit(above) or "1", below=one)
        return "" if code == "1" else self.templates.get(f"unit.{code}", code)

    def amount(self, number: str, code: str) -> str:
        """Return a printed number with its unit, in the singular where the language has one.

        Example:
            >>> words = load_words("en")
            >>> words.amount("1", "persons"), words.amount("12", "persons"), words.amount("3", "1")
            ('1 patient', '12 patients', '3')
        """
        unit = self.templates.get(f"unit-one.{code}") if number == "1" else None
        shown = clean(unit or self.unit(code))
        return self.say("amount", value=number, unit=shown).strip()

    def _filled(self, keys: tuple[str, ...], parts: Mapping[str, str]) -> tuple[str, ...]:
        wanted: set[str] = set()
        for key in keys:
            if key not in self.templates:
                raise UnknownNameError("sentence", key, known=self.templates)
            wanted |= placeholders(self.templates[key])
        if wanted != parts.keys():
            raise ContractError(
                f"Sentence {keys[0]!r} has placeholders {sorted(wanted)}, got {sorted(parts)}."
            )
        return tuple(self.templates[key].format_map(parts) for key in keys)


@functools.cache
def placeholders(template: str) -> frozenset[str]:
    """Return the names between braces.

    Example:
        >>> sorted(placeholders("{value} {unit}"))
        ['unit', 'value']
    """
    parts = string.Formatter().parse(template)
    return frozenset(name for _, name, _, _ in parts if name is not None)


@functools.cache
def languages(*, part: str = "page") -> tuple[str, ...]:
    """Return the codes of the languages that have the sentences of a part.

    Args:
        part: "page" for reports, "legal" for legal documents: the name of a table of the file.

    Example:
        >>> languages(), languages(part="legal")
        (('en',), ('en', 'zh'))
    """
    folder = resources.files("confide.drawing") / _FOLDER
    files = [file.name for file in folder.iterdir() if file.name.endswith(".toml")]
    found = [name.removesuffix(".toml") for name in files]
    return tuple(sorted(name for name in found if part in _tables(name)))


@functools.cache
def load_words(language: str, *, part: str = "page") -> Words:
    """Return the sentences of a language.

    Args:
        language: Code as in the name of the file.
        part: What they are needed for; a language may have legal documents and no reports.

    Raises:
        UnknownNameError: If no file has that part in the language.
    """
    known = languages(part=part)
    if language not in known:
        raise UnknownNameError("language", language, known=known)
    return Words(language=language, templates=dict(_flat(_tables(language))))


@functools.cache
def own_words(statistic: str) -> Mapping[str, Mapping[str, Mapping[str, object]]]:
    """Return the tables of sentences that the folder of a statistic holds, by language.

    Example:
        >>> own_words("mean")["en"]["title"]
        {'mean': 'Mean {column}'}
    """
    folder = resources.files("confide") / "statistics" / statistic / _OWN
    files = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    return {
        name.removesuffix(".toml"): tomllib.loads(
            own_text("confide", f"statistics/{statistic}/{_OWN}/{name}")
        )
        for name in files
    }


@functools.cache
def _tables(language: str) -> Mapping[str, object]:
    found: dict[str, Any] = tomllib.loads(own_text("confide.drawing", f"{_FOLDER}/{language}.toml"))
    statistics = resources.files("confide") / "statistics"
    for name in sorted(folder.name for folder in statistics.iterdir()):
        for table, lines in own_words(name).get(language, {}).items():
            found[table] = found.get(table, {}) | lines
    return found


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        match value:
            case str():
                yield f"{prefix}{name}", value
            case dict():
                yield from _flat(value, f"{prefix}{name}.")
            case list():
                items = {str(place): item for place, item in enumerate(value)}
                yield from _flat(items, f"{prefix}{name}.")
            case _:
                raise ContractError(f"Sentence {prefix}{name!r} is not a text.")

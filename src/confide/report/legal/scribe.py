"""Writes fields in one language: automatic ones with their source, and those for people.

*Privacy:* sees a subject's public facts and what people wrote into legal.yaml.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from confide.drawing.numbers import clean
from confide.drawing.words import Words
from confide.report.legal.asked import ASKED, CHOICES, SIGNED, Who
from confide.report.legal.declared import LegalDeclaration
from confide.report.legal.document import (
    AskedField,
    Note,
    NumberedPart,
    PartItem,
    StatedField,
    TextTable,
)
from confide.report.legal.subject import LegalSubject, Stage

LONGEST = 4000
_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Scribe:
    """Language, subject and legal declaration of one document."""

    words: Words
    subject: LegalSubject
    law: LegalDeclaration

    def say(self, key: str, /, **parts: str) -> str:
        """Return a sentence of the legal documents."""
        return self.words.say(f"legal.{key}", **parts)

    def part(
        self, number: str, key: str, *items: PartItem | None, parts: Sequence[NumberedPart] = ()
    ) -> NumberedPart:
        """Return a numbered part; items that are None are left out."""
        return NumberedPart(
            number=number,
            title=self.say(f"part.{key}"),
            items=tuple(item for item in items if item is not None),
            parts=tuple(parts),
        )

    def note(self, key: str, /, **parts: str) -> Note:
        """Return the plain sentences of a key."""
        return Note(texts=self.words.each(f"legal.note.{key}", **parts))

    def stated(self, key: str, *texts: str, source: str) -> StatedField:
        """Return an automatic field; what is empty in the files says so."""
        shown = tuple(clean(text, most=LONGEST) for text in texts if text)
        return StatedField(
            label=self.say(f"label.{key}"),
            texts=shown or (self.say("not-declared"),),
            source=source,
        )

    def table(
        self,
        key: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        source: str,
        labels: int = 1,
    ) -> TextTable:
        """Return a table whose title and column heads are words."""
        return TextTable(
            name=key,
            title=self.say(f"table.{key}"),
            head=tuple(self.say(f"head.{name}") for name in columns),
            rows=tuple(tuple(row) for row in rows),
            source=source,
            labels=labels,
        )

    def asked(self, name: str) -> AskedField:
        """Return a field for a person, with the answer that legal.yaml has."""
        answer = paragraphs(self.law.answers.get(name, ""))
        return AskedField(
            id=name,
            label=self.say(f"ask.{name}"),
            who=self.who(ASKED[name]),
            answer=answer,
            source=self.from_law() if answer else "",
            choices=tuple(self.say(f"choice.{name}.{each}") for each in CHOICES.get(name, ())),
        )

    def written(self, name: str, key: str, text: str, *, who: Who, **parts: str) -> AskedField:
        """Return a field of a site, which has its own place in legal.yaml."""
        answer = paragraphs(text)
        return AskedField(
            id=name,
            label=self.say(f"ask.{key}", **parts),
            who=self.who(who),
            answer=answer,
            source=self.from_law() if answer else "",
        )

    def signature(self, name: str) -> AskedField:
        """Return a place to sign."""
        return AskedField(
            id=name, label=self.say(f"sign.{name}"), who=self.who(SIGNED[name]), signature=True
        )

    def who(self, who: Who) -> str:
        """Return who fills a field."""
        return self.say(f"who.{who.value}")

    def from_law(self) -> str:
        """Return the source of what people wrote."""
        return self.say("from.law", file=clean(self.law.file))

    def from_plan(self) -> str:
        """Return the source of what study and plan say."""
        subject = self.subject
        if subject.plan is None:
            return self.from_ledger()
        digest = subject.plan.digest()[:_DIGITS]
        if subject.certificate is not None:
            name = clean(subject.certificate.id, most=160)
            return self.say("from.certificate", id=name, plan=digest)
        return self.say("from.study", file=clean(subject.file), plan=digest)

    def from_dataset(self) -> str:
        """Return the source of what is declared of the data."""
        if self.subject.stage is Stage.RELEASE:
            return self.from_plan()
        return self.say("from.dataset", dataset=clean(self.subject.dataset.id))

    def from_ledger(self) -> str:
        """Return the source of charges and caps."""
        lineage = clean(self.subject.dataset.lineage)
        if self.subject.certificate is not None:
            entry = self.subject.certificate.accounting
            hashed = entry.hash[:_DIGITS]
            return self.say("from.entry", lineage=lineage, row=str(entry.entry), hash=hashed)
        return self.say("from.ledger", lineage=lineage)

    def from_software(self) -> str:
        """Return the source of what is said of the software."""
        if self.subject.stage is Stage.RELEASE:
            return self.from_plan()
        return self.say("from.installation", version=self.subject.software.version)

    def computed(self, of: str) -> str:
        """Return the source of a number that was computed."""
        return self.say("from.computed", of=of)


def paragraphs(text: str) -> tuple[str, ...]:
    r"""Return the lines that a person wrote, without empty ones.

    Example:
        >>> paragraphs("Hospital Act, s. 12.\n\nResearch Act, s. 3.\n")
        ('Hospital Act, s. 12.', 'Research Act, s. 3.')
    """
    return tuple(clean(line.strip(), most=LONGEST) for line in text.splitlines() if line.strip())

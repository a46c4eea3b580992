"""From the outline of a kind of document to its parts.

An outline is a template that gives one line for each thing.  ``sources gdpr srb`` names what is
referred to; ``2.1 lawfulness`` begins a part, and ``2.1 site 0`` one that is about a site; indented
lines are what stands in it: ``note``, ``ask`` and ``sign`` with the name of a sentence or field,
``show`` with the name of an exhibit and, where it is about one, the site.  A part stands in the
longest one whose number its own begins with.

*Privacy:* public facts of the subject decide what an outline gives; no text from a file is in it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from confide.drawing.numbers import clean
from confide.report.legal.document import Kind, NumberedPart, PartItem
from confide.report.legal.fields import OF_SITE, OF_SUBJECT
from confide.report.legal.scribe import Scribe
from confide.report.legal.templates import TemplateForm, rendered


@dataclass(slots=True, kw_only=True)
class _Open:
    number: str
    title: str
    items: list[PartItem] = field(default_factory=list)


def outline(kind: Kind, *, scribe: Scribe) -> tuple[tuple[str, ...], tuple[NumberedPart, ...]]:
    """Return the sources and the parts of a kind of document."""
    facts = {"plan": scribe.subject.plan, "asks": scribe.subject.asks, "sites": scribe.law.sites}
    sources: list[str] = []
    found: list[_Open] = []
    for line in rendered(kind.value, TemplateForm.OUTLINE, **facts).splitlines():
        match line.split():
            case []:
                continue
            case ["sources", *names]:
                sources += [scribe.say(f"source.{name}") for name in names]
            case [word, *name] if line[0] == " ":
                found[-1].items += _items(word, *name, scribe=scribe)
            case [number, key, *place]:
                title = scribe.say(f"part.{key}")
                for each in place:
                    site = clean(scribe.law.sites[int(each)].title, most=120)
                    title = scribe.say("named", kind=title, name=site)
                found.append(_Open(number=number, title=title))
            case _:
                raise ValueError(line)
    return tuple(sources), tuple(_nested(found))


def _items(word: str, name: str, *place: str, scribe: Scribe) -> Iterator[PartItem]:
    shown: Iterable[PartItem | None]
    match word:
        case "note":
            shown = (scribe.note(name),)
        case "ask":
            shown = (scribe.asked(name),)
        case "sign":
            shown = (scribe.signature(name),)
        case "show" if place:
            site = scribe.law.sites[int(place[0])]
            shown = (OF_SITE[name](site, scribe=scribe),)
        case "show":
            shown = OF_SUBJECT[name](scribe)
        case _:
            raise ValueError(word)
    return (item for item in shown if item is not None)


def _nested(parts: list[_Open]) -> Iterator[NumberedPart]:
    """Yield each part that is in no other, with those that are in it."""
    while parts:
        first = parts[0]
        size = 1
        while size < len(parts) and parts[size].number.startswith(f"{first.number}."):
            size += 1
        inner = tuple(_nested(parts[1:size]))
        yield NumberedPart(
            number=first.number, title=first.title, items=tuple(first.items), parts=inner
        )
        parts = parts[size:]

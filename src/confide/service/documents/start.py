"""Start: a legal.yaml in which every answer is still empty."""

from dataclasses import dataclass
from pathlib import Path

from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.regular_file import create_text
from confide.report.legal.asked import ASKED

_HEAD = """\
# What people have decided in law. Read by `confide document`; nothing here is decided by software.
# article-6: 6(1)(a) to 6(1)(f); article-9: 9(2)(a), (g), (h), (i) or (j).
# A public hospital usually relies on 6(1)(e) with 9(2)(i), a private one on 6(1)(f) with 9(2)(j);
# another pair needs why:, and 6(1)(f) the balancing test.
sites:
"""
_PUBLIC = """\
  - id: site
    name: ""
    kind: public
    legal-basis: {article-6: "6(1)(e)", article-9: "9(2)(i)", national-law: ""}
"""
_PRIVATE = """\
  - id: site
    name: ""
    kind: private
    legal-basis: {article-6: "6(1)(f)", article-9: "9(2)(j)", national-law: ""}
    balancing-test: {interest: "", necessity: "", balance: "", outcome: ""}
"""
_REST = """\

# personal, or not-personal-to-recipients with a written justification.
identifiability: {outcome: personal, justification: ""}

# Fields for people; each is asked in one document or several. Signatures are given on paper.
answers:
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedLegal:
    """A legal.yaml to fill in.

    Attributes:
        file: Where it is.
    """

    file: Path


def start_legal(out: Path, *, private: bool) -> StartedLegal:
    """Write a legal.yaml with every answer empty; an existing one is never written over.

    Args:
        out: The file.
        private: Whether the site is private, which needs a balancing test.

    Raises:
        ContractError: If the file is there.
    """
    if out.exists():
        raise ContractError(
            f"{out.name} is there already.", hint="Edit it, or name another file with --out."
        )
    create_text(out, empty_legal(private=private))
    return StartedLegal(file=out)


def empty_legal(*, private: bool) -> str:
    """Return the text of a legal.yaml with one site and no answers."""
    words = load_words("en", part="legal")
    lines = []
    for name, who in ASKED.items():
        asked = words.say(f"legal.ask.{name}")
        lines.append(f'  {name}: ""  # {words.say(f"legal.who.{who.value}")}: {asked}\n')
    return _HEAD + (_PRIVATE if private else _PUBLIC) + _REST + "".join(lines)

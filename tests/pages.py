"""Read documentation pages: their headings and their code blocks."""

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = tuple(sorted([ROOT / "README.md", *DOCS.rglob("*.md")]))

_BLOCK = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([\w./-]+)"')


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str
    line: int


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, those of lists too, without their indentation."""
    text = page.read_text("utf-8")
    return [
        Block(
            language=found[2],
            title=title[1] if (title := _TITLE.search(found[3])) else "",
            text=dedent(found[4]),
            line=text.count("\n", 0, found.start()) + 2,
        )
        for found in _BLOCK.finditer(text)
    ]


def headings(page: Path) -> list[str]:
    text = _BLOCK.sub("", page.read_text("utf-8"))
    return [line.lstrip("#").strip() for line in text.splitlines() if re.match(r"#{1,6} ", line)]

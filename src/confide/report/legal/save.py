"""A legal document as files: Markdown and HTML, never written over what a person may have edited.

*Privacy:* writes public facts and what people wrote.
"""

from pathlib import Path

from confide.drawing.markup import trusted
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.regular_file import read_bytes, write_bytes
from confide.report.legal.document import LegalDocument
from confide.report.legal.status import status_of
from confide.report.legal.templates import TemplateForm, rendered
from confide.report.pages.document import document as whole_document


def files_of(document: LegalDocument) -> dict[str, str]:
    """Return name and text of each file; equal documents give equal texts."""
    words = load_words(document.language, part="legal")

    def say(key: str, **parts: str) -> str:
        return words.say(f"legal.{key}", **parts)

    facts = {
        "document": document,
        "status": status_of(document, words=words),
        "say": say,
        "form": lambda item: type(item).__name__,
    }
    title = say("named", kind=document.what, name=document.title)
    body = trusted(rendered("page", TemplateForm.HTML, **facts))
    stem = f"{document.kind.value}.{document.language}"
    return {
        f"{stem}.md": rendered("page", TemplateForm.MARKDOWN, **facts),
        f"{stem}.html": whole_document(body, title=title, language=document.language),
    }


def save_document(document: LegalDocument, out: Path, *, replace: bool = False) -> tuple[Path, ...]:
    """Write a document into a folder and return its files.

    Args:
        document: What is written.
        out: The folder; made where there is none.
        replace: Whether a file that differs may be written over.

    Raises:
        ContractError: If a file is there with another text and ``replace`` is not given.
    """
    files = {out / name: text.encode() for name, text in files_of(document).items()}
    for path, content in files.items():
        if path.exists() and read_bytes(path) != content and not replace:
            raise ContractError(
                f"{path.name} is there already and differs; somebody may have edited it.",
                hint="Put answers into legal.yaml, and add --replace; or choose another --out.",
            )
    out.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        write_bytes(path, content)
    return tuple(files)

"""``confide document dpia``, ``legal-basis``, ``identifiability``, ``hipaa`` and ``ehds``.

They are one command: the kind of the document is all that differs.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say

if TYPE_CHECKING:
    from confide.service.documents.write import Written

What = Annotated[
    Path,
    typer.Argument(
        help="A study.yaml before it runs, a release's folder after it, or a dataset.yaml "
        "with --year."
    ),
]
Legal = Annotated[
    Path | None,
    typer.Option("--legal", help="The legal.yaml; the one beside WHAT when left out."),
]
Audit = Annotated[Path | None, typer.Option("--audit", help="What `confide audit --json` printed.")]
StudyFile = Annotated[
    Path | None,
    typer.Option("--study", help="The study of a release: certificates hold no errors asked."),
]
Year = Annotated[int | None, typer.Option("--year", help="A calendar year of the ledger.")]
Lang = Annotated[str, typer.Option("--lang", help="Language of the document: en, zh.")]
Out = Annotated[Path, typer.Option("--out", help="Folder for the Markdown and HTML files.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="Write over files that differ; edits are lost.")
]
HERE = Path()


def writing(kind: str) -> Callable[..., None]:
    """Return the command that writes the documents of a kind."""

    def write(  # noqa: PLR0913 - one for each option
        what: What,
        *,
        legal: Legal = None,
        audit: Audit = None,
        study: StudyFile = None,
        year: Year = None,
        period: Period = None,
        lang: Lang = "en",
        out: Out = HERE,
        replace: Replace = False,
        as_json: Json = False,
        quiet: Quiet = False,
    ) -> None:
        from confide.report.legal.document import Kind
        from confide.service.documents.write import Wanted, write_document

        wanted = Wanted(
            what=what,
            legal=legal,
            audit=audit,
            study=study,
            year=year,
            period=period,
            language=lang,
            out=out,
            replace=replace,
        )
        made = write_document(Kind(kind), wanted)
        output = Output(json=as_json, quiet=quiet)
        output.result("document", made, show=lambda: _show(made))

    return write


def _show(made: "Written") -> None:
    for path in made.files:
        say(str(path))
    count, signatures = len(made.missing), len(made.signatures)
    if count:
        say(f"Not complete: {count} fields are for a person to fill in, and {signatures} to sign.")
        say("Answer them in legal.yaml under answers:, by these names:")
        for each in made.missing:
            say(f"  {each.part:8} {each.id}: {each.label} ({each.who})")
    else:
        say(f"Every field is filled in; {signatures} signatures are to be given.")

"""Write the pages that are generated: JSON Schemas and the `--help` of every command.

Run by ``make docs``; a test fails when a written page is not what this says.
"""

import json
from pathlib import Path
from typing import Any

from confide.files.schema import FILES, json_schema
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.form_check import schema
from confide.release.jobs.job_form import JobForm
from confide.release.reused_form import ReusedForm

HERE = Path(__file__).parent
CERTIFICATES = {
    "certificate": CertificateForm,
    "certificate-job": JobForm,
    "certificate-reused": ReusedForm,
}
CLI_PAGE = "reference/cli.md"
HELP_START, HELP_END = "<!-- help: ", "<!-- end of help -->"


def schemas() -> dict[str, str]:
    """Return the text of every JSON Schema, by path below docs/."""
    files = {name: json_schema(name) for name in FILES}
    files |= {name: schema(form) for name, form in CERTIFICATES.items()}
    return {f"reference/{name}.schema.json": _text(found) for name, found in files.items()}


def _text(schema: Any) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def commands() -> tuple[tuple[str, ...], ...]:
    """Return every command and subcommand, the program itself first."""
    from typer.main import get_command

    from confide.cli import app

    found: list[tuple[str, ...]] = []

    def walk(command: Any, path: tuple[str, ...]) -> None:
        found.append(path)
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, (*path, name))

    walk(get_command(app), ())
    return tuple(found)


def help_text(command: tuple[str, ...]) -> str:
    """Return what `confide COMMAND --help` prints, 100 columns wide and without colour."""
    from typer.testing import CliRunner

    from confide.cli import app

    plain = {"NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}
    done = CliRunner(env=plain).invoke(app, [*command, "--help"], prog_name="confide")
    return "\n".join(line.rstrip() for line in done.output.strip("\n").splitlines()).strip("\n")


def with_help(page: str) -> str:
    """Return the page with the block after each `<!-- help: COMMAND -->` made anew."""
    head, *parts = page.split(HELP_START)
    made = [head]
    for part in parts:
        command, rest = part.split(" -->", 1)
        after = rest.split(HELP_END, 1)[1]
        words = tuple(command.split()[1:])
        block = f"\n```text\n{help_text(words)}\n```\n"
        made.append(f"{HELP_START}{command} -->{block}{HELP_END}{after}")
    return "".join(made)


def main() -> None:
    """Write everything."""
    for path, text in schemas().items():
        (HERE / path).write_text(text, encoding="utf-8")
    page = HERE / CLI_PAGE
    if page.exists():
        page.write_text(with_help(page.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

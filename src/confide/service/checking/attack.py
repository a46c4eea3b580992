"""Attack a table of the steward's own, and the same questions under differential privacy."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from confide.errors import InvalidParameterError, UnknownNameError
from confide.service.dump import ASIDE, OMITTED, dump
from confide.service.grids import TextTable

if TYPE_CHECKING:
    from confide.attacks.lab.anonymity import Anonymity
    from confide.attacks.lab.own_table import FileForm
    from confide.attacks.lab.run import AttackFound, LabFindings

SCHEMA = "confide.attack/1"
_LARGEST_EPSILON = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """What a table promises by its classes.

    Attributes:
        table: Which.
        classes: How many there are.
        k: Patients of the smallest.
        alone: Patients who are alone in theirs.
        l_distinct: Values of the sensitive column in the class that has fewest.
        l_entropy: e to the entropy of the class where that is least.
        t: Largest distance of a class from the table.
    """

    table: str
    classes: int
    k: int
    alone: int
    l_distinct: int
    l_entropy: float
    t: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackedTable:
    """What one attack did.

    Attributes:
        attack: Its name.
        says: In one sentence.
        patients: Who were attacked without protection.
        exposed: Of whom the secret was concluded, and rightly.
        wrong: Of whom something else was concluded.
        knowing_others: Share exposed, without protection, to who knows every other patient.
        private_share: Share exposed under differential privacy.
        standard_error: Of it.
        games: In which it was measured.
        bound: The largest share that any attack exposes.
        law: Which theorem says so.
        holds: Whether it was respected, but for chance.
        remarks: On either.
    """

    attack: str
    says: str
    patients: int
    exposed: float
    wrong: int
    knowing_others: Annotated[float | None, OMITTED]
    private_share: float
    standard_error: float
    games: int
    bound: float
    law: str
    holds: bool
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabResults:
    """What the lab found; exact, for the steward alone.

    Attributes:
        for_whom: Whose eyes it is for.
        table: Name of the file.
        patients: In it.
        quasi: What others know of a patient.
        sensitive: What they want to know.
        epsilon: Of each private answer.
        anonymity: Of the table as it is, and of its k-anonymous version.
        attacks: In order.
        not_run: Attacks whose library is not installed.
        files: That were written.
        tables: For people.
    """

    for_whom: str
    table: str
    patients: int
    quasi: tuple[str, ...]
    sensitive: str
    epsilon: str
    anonymity: tuple[Promised, ...]
    attacks: tuple[AttackedTable, ...]
    not_run: tuple[str, ...]
    files: tuple[str, ...]
    tables: Annotated[tuple[TextTable, ...], ASIDE]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFile:
    """A table of the steward's own.

    Attributes:
        path: A CSV or Parquet file, a line a patient.
        separator: Between cells of a CSV file, in the words of dataset.yaml.
        decimal: "." or ",": before the places of a number.
        encoding: Of its text.
    """

    path: Path
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def form(self) -> "FileForm":
        """Return how the file is written.

        Raises:
            ContractError: If one of the words is not known.
        """
        from confide.attacks.lab.own_table import FileForm
        from confide.tables.dialect import Separator
        from confide.tables.encoding import Encoding

        separators = {each.value: each for each in Separator}
        encodings = {each.value: each for each in Encoding}
        if self.separator not in separators:
            raise UnknownNameError("separator", self.separator, known=separators)
        if self.encoding not in encodings:
            raise UnknownNameError("encoding", self.encoding, known=encodings)
        return FileForm(
            separator=separators[self.separator],
            decimal=self.decimal,
            encoding=encodings[self.encoding],
        )


def attack_table(
    name: str,
    table: OwnFile | None,
    *,
    quasi: Sequence[str],
    sensitive: str,
    k: int,
    epsilon: str,
    out: Path,
    progress: Callable[[str], None],
) -> LabResults:
    """Attack a table, and write a page and a file of numbers for the steward alone.

    Reads the file and writes the folder; opens no ledger, and charges nothing.

    Args:
        name: Of an attack, or "all".
        table: A CSV or Parquet file, a line a patient; made-up patients when None.
        quasi: Columns that others know of a patient.
        sensitive: Column that they want to know.
        k: Of k-anonymous tables, and the fewest patients of an exact count.
        epsilon: Of each private answer.
        out: A new folder, apart from releases.
        progress: Told the name of each attack.

    Raises:
        InvalidParameterError: If ε is not from 0.01 to 20.
        ContractError: If the place lies in a release, or the file is no such table.
    """
    from confide.attacks.lab.apart import require_apart, write_apart
    from confide.attacks.lab.attack import LabSettings
    from confide.attacks.lab.example_table import example_table
    from confide.attacks.lab.own_table import read_own_table
    from confide.attacks.lab.run import GAMES, TARGETS, chosen_attacks, run_lab
    from confide.attacks.lab.system_coins import system_coins

    attacks, amount = chosen_attacks(name), _amount(epsilon)
    require_apart(out)
    coins = system_coins()
    rows = (
        example_table(entropy=coins)
        if table is None
        else read_own_table(table.path, quasi=quasi, sensitive=sensitive, form=table.form())
    )
    settings = LabSettings(
        table=rows, k=k, epsilon=amount, games=GAMES, targets=TARGETS, entropy=coins
    )
    found = run_lab(settings, attacks=attacks, progress=progress)
    called = "made-up patients" if table is None else table.path.name
    files = _drawn(found, title=called, name=name)
    numbers = f"{_prefix(found)}attack-{name}.json"
    made = _results(found, table=called, files=(*files, numbers))
    text = json.dumps({"schema": SCHEMA, **dump(made)}, ensure_ascii=False, indent=2)
    write_apart(files | {numbers: f"{text}\n".encode()}, out=out)
    return made


def _amount(epsilon: str) -> Fraction:
    try:
        amount = Fraction(epsilon)
    except (ValueError, ZeroDivisionError):
        amount = Fraction(0)
    if not Fraction(1, 100) <= amount <= _LARGEST_EPSILON:
        raise InvalidParameterError(
            f"Expected epsilon from 0.01 to {_LARGEST_EPSILON}, got {epsilon!r}.",
            hint="Write --epsilon 1.",
        )
    return amount


def _prefix(found: "LabFindings") -> str:
    """Return what every name of a file begins with."""
    from confide.attacks.lab.apart import EXAMPLE_PREFIX, PREFIX

    return EXAMPLE_PREFIX if found.settings.table.made_up else PREFIX


def _drawn(found: "LabFindings", *, title: str, name: str) -> dict[str, bytes]:
    """Return the page, and a picture of each attack."""
    from confide.attacks.lab.figure import attack_chart
    from confide.attacks.lab.lab_page import lab_page
    from confide.drawing.charts.narrow import narrowed
    from confide.drawing.charts.render import draw
    from confide.drawing.numbers import epsilon_text

    settings, prefix = found.settings, _prefix(found)
    epsilon, made_up = epsilon_text(settings.epsilon), settings.table.made_up
    charts = [attack_chart(each, epsilon=epsilon, made_up=made_up) for each in found.found]
    drawn = [draw(chart, narrow=narrowed(chart)) for chart in charts]
    files = {f"{prefix}attack-{name}.html": lab_page(found, drawn=drawn, title=title).encode()}
    for each, drawing in zip(found.found, drawn, strict=True):
        files |= {f"{prefix}{each.attack.name}.svg": drawing.svg.encode()}
        files |= {f"{prefix}{each.attack.name}.png": drawing.png}
    return files


def _results(found: "LabFindings", *, table: str, files: tuple[str, ...]) -> LabResults:
    from confide.attacks.lab.lab_page import for_whom
    from confide.attacks.lab.run import LAB_ATTACKS

    settings = found.settings
    promised = (
        _promised("as it is", found.as_it_is),
        _promised(f"{settings.k}-anonymous", found.anonymised),
    )
    attacked = tuple(_attacked(each, epsilon=settings.epsilon) for each in found.found)
    return LabResults(
        for_whom=for_whom(found),
        table=table,
        patients=settings.table.patients,
        quasi=tuple(settings.table.quasi),
        sensitive=settings.table.sensitive_name,
        epsilon=str(settings.epsilon),
        anonymity=promised,
        attacks=attacked,
        not_run=tuple(each.name for each in LAB_ATTACKS if not each.can_run),
        files=files,
        tables=(_promises(promised), _exposed(attacked)),
    )


def _promised(name: str, of: "Anonymity") -> Promised:
    return Promised(
        table=name,
        classes=of.classes,
        k=of.k,
        alone=of.unique,
        l_distinct=of.l_distinct,
        l_entropy=round(of.l_entropy, 4),
        t=round(of.t, 4),
    )


def _attacked(found: "AttackFound", *, epsilon: Fraction) -> AttackedTable:
    from confide.attacks.lab.lab_page import headline_of
    from confide.drawing.numbers import epsilon_text

    plain, private = found.plain, found.private
    known = plain.knowing_others
    return AttackedTable(
        attack=found.attack.name,
        says=headline_of(found, epsilon=epsilon_text(epsilon)),
        patients=plain.patients,
        exposed=plain.exposed,
        wrong=plain.wrong,
        knowing_others=None if known is None else round(known.share, 4),
        private_share=round(private.found.share, 4),
        standard_error=round(private.found.standard_error, 4),
        games=private.found.games,
        bound=private.bound,
        law=private.law,
        holds=private.holds,
        remarks=tuple(each for each in (plain.remark, private.remark) if each),
    )


def _promises(promised: Sequence[Promised]) -> TextTable:
    columns = ("table", "classes", "k", "alone", "l, distinct", "l, entropy", "t")
    rows = [
        (
            each.table,
            *(f"{value:,}" for value in (each.classes, each.k, each.alone, each.l_distinct)),
            f"{each.l_entropy:.2f}",
            f"{each.t:.3f}",
        )
        for each in promised
    ]
    return TextTable(title="What the table promises by itself", columns=columns, rows=tuple(rows))


def _exposed(attacked: Sequence[AttackedTable]) -> TextTable:
    columns = ("attack", "exposed", "of", "to who knows others", "with privacy", "bound", "")
    rows = [
        (
            each.attack,
            f"{each.exposed:,}",
            f"{each.patients:,}",
            "" if each.knowing_others is None else f"{100 * each.knowing_others:.0f} %",
            f"{100 * max(0.0, each.private_share):.1f} %",
            f"{100 * each.bound:.1f} %",
            "✓" if each.holds else "✗",
        )
        for each in attacked
    ]
    return TextTable(title="Patients exposed", columns=columns, rows=tuple(rows))

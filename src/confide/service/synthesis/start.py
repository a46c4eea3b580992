"""Start: a synth.yaml from a few words, to be read over and completed; the data are not opened."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from confide.files.synth.synth import read_synth
from confide.regular_file import create_text


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedSynthesis:
    """A synth.yaml that was written.

    Attributes:
        file: Where it is.
        columns: That it names.
    """

    file: Path
    columns: tuple[str, ...]


def start_synthesis(
    dataset: Path, *, columns: str, table: str, target: str, rows: int, epsilon: str, out: Path
) -> StartedSynthesis:
    """Write a synth.yaml; it is read once, so that what is left there can be planned.

    Args:
        dataset: A dataset.yaml.
        columns: Names between commas.
        table: Whose rows; "" where there is one table.
        target: Column that is to be predicted; "" for general use.
        rows: Public planning number of rows.
        epsilon: What it costs.
        out: The new file.

    Raises:
        ContractError: If a column is not declared, or the like; nothing is written.
        FileExistsError: If the file is there.
    """
    names = tuple(name.strip() for name in columns.split(","))
    place = os.path.relpath(dataset.absolute(), out.absolute().parent)
    read_synth(
        {
            "synthesis": {"id": "synthesis"},
            "dataset": str(dataset.absolute()),
            "table": table,
            "columns": list(names),
            "target": target,
            "rows": rows,
            "spend": {"epsilon": epsilon},
        }
    )
    aim = f"target: {_quoted(target)}" if target else "# target: a column that is to be predicted"
    about = f"table: {_quoted(table)}\n" if table else ""
    create_text(
        out,
        "synthesis: {id: synthesis, title: Synthetic table}\n"
        f"dataset: {_quoted(place)}\n"
        f"{about}columns: [{', '.join(map(_quoted, names))}]\n"
        f"{aim}\n"
        "# together: [[a, b, c]]         columns of one analysis\n"
        "# method: aim                   pairs in rounds, without a target\n"
        "# events: {…}                   OMOP tables of patients, from an OMOP source\n"
        "# never: [{a: label, b: label}] what cannot be\n"
        f"rows: {rows}                      # public, about\n"
        f"spend: {{epsilon: {epsilon}}}\n",
    )
    return StartedSynthesis(file=out, columns=names)


def _quoted(text: str) -> str:
    """Return a text as YAML takes it whatever it holds."""
    return json.dumps(text, ensure_ascii=False)

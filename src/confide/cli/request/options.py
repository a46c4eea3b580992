"""Options that the commands of ``confide request`` share."""

from pathlib import Path
from typing import Annotated

import typer

Number = Annotated[int, typer.Argument(help="Number of the request, as in confide request list.")]
Key = Annotated[Path, typer.Option("--key", help="Your own key, of confide request key.")]
Role = Annotated[
    str, typer.Option(help="In which role you decide; only if the tier asks for two of yours.")
]
Why = Annotated[str, typer.Option("--reason", help="Why; it is recorded for good.")]

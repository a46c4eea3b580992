"""How the later periods of a growing release are published, for people."""

from typing import TYPE_CHECKING

from confide.cli.output import say

if TYPE_CHECKING:
    from confide.service.planning.growth import ToldGrowth


def show_growth(grows: "ToldGrowth | None") -> None:
    """Print how the later periods of a growing release are published."""
    if grows is not None:
        say(
            f"It grows: {grows.published} of its {grows.of} periods are published, and the "
            f"charge is that of all {grows.of}. Once later ones are over, set a later `through` "
            "and the id of the new snapshot; `confide advance` then publishes them at no charge."
        )

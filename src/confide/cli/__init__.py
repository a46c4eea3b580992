"""The command line: one command, one file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from confide.cli.commands import app

__all__ = ["app"]


def __getattr__(name: str) -> object:
    """Load the app when it is first used, so that importing the package is cheap."""
    if name == "app":
        from confide.cli import commands

        return commands.app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

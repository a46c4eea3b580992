"""The one version of Flower that relays are tested with, and the settings that keep it silent."""

import os
from importlib import metadata

from confide.errors import UnsupportedError

FLOWER_VERSION = "1.41.0"
_SILENT = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}


def require_flower() -> None:
    """Refuse to go on without the pinned Flower, and let it tell nobody that it runs.

    Raises:
        UnsupportedError: If there is none, or another version.
    """
    try:
        found = metadata.version("flwr")
    except metadata.PackageNotFoundError:
        found = "none"
    if found != FLOWER_VERSION:
        raise UnsupportedError(
            f"Relays need Flower {FLOWER_VERSION}, and here is {found}.",
            hint="Run them in an environment of their own; see docs/how-to/flower.md.",
        )
    os.environ.update(_SILENT)

"""Which software made a release: version, and the SHA-256 of every source file of the package."""

import functools
import hashlib
import platform
from importlib import resources
from importlib.resources.abc import Traversable


@functools.cache
def software() -> dict[str, str]:
    """Return what a certificate says of the software."""
    from confide import __version__

    total = hashlib.sha256()
    for name, content in sorted(_sources(resources.files("confide"), "")):
        total.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return {
        "name": "confide",
        "version": __version__,
        "source-sha256": total.hexdigest(),
        "python": platform.python_version(),
    }


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        if item.is_dir() and item.name != "__pycache__":
            found += _sources(item, f"{prefix}{item.name}/")
        elif item.name.endswith((".py", ".sql", ".toml", ".css")):
            found.append((f"{prefix}{item.name}", item.read_bytes()))
    return found

"""The bundle that Flower asks for: a ticket, of which nothing is run at any member.

Flower pushes the program of a run to every site.  Here each member runs what it has installed
(`runtime`), and takes part in runs of this one bundle alone: it builds the bundle from its own copy
of these texts and compares SHA-256.
"""

import hashlib
from pathlib import Path

from confide.jobs.federated.flower.pinned import require_flower
from confide.regular_file import create_text

_SAYS = '"""Nothing of this bundle is run: each member\'s relay is the one that it installed."""\n'
_APPS = f"""{_SAYS}
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp

server = ServerApp()
client = ClientApp()
"""
_FILES = {
    "pyproject.toml": """\
[project]
name = "confide-relay"
version = "1.0.0"
description = "Carries signed messages of a federation; each member runs its own relay"
license = "Apache-2.0"
dependencies = ["flwr==1.41.0"]

[tool.flwr.app]
publisher = "confide"

[tool.flwr.app.components]
serverapp = "confide_relay.apps:server"
clientapp = "confide_relay.apps:client"
""",
    "confide_relay/__init__.py": _SAYS,
    "confide_relay/apps.py": _APPS,
}


def write_app(folder: Path) -> str:
    """Write what ``flwr run`` takes, and return the SHA-256 of the bundle that it makes.

    Raises:
        FileExistsError: If something stands there.
        UnsupportedError: Without Flower.
    """
    digest = bundle_digest()
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        create_text(path, text)
    return digest


def bundle_digest() -> str:
    """Return the SHA-256 of the one bundle, in hexadecimal digits.

    Raises:
        UnsupportedError: Without Flower.
    """
    require_flower()
    from flwr.cli.build import build_fab_from_files

    content, _ = build_fab_from_files({name: text.encode() for name, text in _FILES.items()})
    return hashlib.sha256(content).hexdigest()

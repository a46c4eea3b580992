"""Run every benchmark; a peer is installed from its own pinned list into .venv-bench-NAME.

Run: make bench
"""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
PEERS = ("opendp", "smartnoise", "diffprivlib", "pythondp", "pipelinedp", "tumult", "opacus")
INSIDE = {"noise.py": "opendp"}
"""Scripts that time a peer in their own process, so that they run in its environment."""


def make_environment(peer: str) -> Path | None:
    """Return the interpreter of the peer's environment, made on first use; None if it cannot be."""
    folder = HERE.parent / f".venv-bench-{peer}"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making {folder.name}", flush=True)
        venv.create(folder, with_pip=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "-r", HERE / f"{peer}.txt"], check=False
        )
        if done.returncode:
            print(f"{peer} cannot be installed here and is left out", flush=True)
            shutil.rmtree(folder)
            return None
    return python


def main() -> None:
    environments = {peer: make_environment(peer) for peer in PEERS}
    failed = []
    for script in sorted(HERE.glob("*.py")):
        if script.name == Path(__file__).name:
            continue
        print(f"\n== {script.name}", flush=True)
        inside = INSIDE.get(script.name)
        done = subprocess.run(
            [environments[inside] if inside else sys.executable, script],
            cwd=HERE.parent,
            env=os.environ | {"PYTHONPATH": str(HERE.parent / "src")},
            check=False,
        )
        if done.returncode:
            failed.append(script.name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()

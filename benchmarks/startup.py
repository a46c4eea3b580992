"""How long a fresh process takes to start, against a bare interpreter in the same run.

Run: python benchmarks/startup.py
"""

import subprocess
import sys
import time

REPEATS = 11
WHAT = {
    "python -c pass": ["-c", "pass"],
    "import confide": ["-c", "import confide"],
    "confide --help": ["-m", "confide", "--help"],
    "plan a study": [
        "-c",
        "import confide, confide.workspace, confide.statistics, confide.files.study",
    ],
}


def least_seconds(arguments: list[str]) -> float:
    """Return the least wall time of a few runs: the others met other work of the machine."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    bare = 0.0
    for name, arguments in WHAT.items():
        try:
            seconds = least_seconds(arguments)
        except subprocess.CalledProcessError:
            print(f"{name:20} fails")
            continue
        bare = bare or seconds
        print(f"{name:20}{seconds:8.3f} s   {seconds / bare:5.1f} × a bare interpreter")


if __name__ == "__main__":
    main()

"""A peer's process: it reads the name of a task a line, runs it, and answers with one line of JSON.

Answers: CPU seconds (with those of children), wall seconds, and the numbers, so that accuracy can
be told beside speed.
"""

import json
import os
import resource
import sys
import time


def cpu_seconds() -> float:
    used = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        used += usage.ru_utime + usage.ru_stime
    return used


def serve(tasks) -> None:
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    print(json.dumps(sorted(tasks)), file=out, flush=True)
    for line in sys.stdin:
        cpu, wall = cpu_seconds(), time.perf_counter()
        try:
            numbers = tasks[line.strip()]()
            answer = {"numbers": numbers}
        except Exception as error:  # noqa: BLE001 - a peer's failure is a result
            answer = {"error": f"{type(error).__name__}: {str(error)[:120]}"}
        answer["cpu"], answer["wall"] = cpu_seconds() - cpu, time.perf_counter() - wall
        answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(answer), file=out, flush=True)

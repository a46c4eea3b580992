"""A process that has loaded the command line, and forks itself for every command that is asked.

Each command is a process of its own, with its own descriptors, folder and environment; what it is
spared is the start of an interpreter.  Where that start matters, ``fresh`` in real_command.py has
it.  Commands may run at once, as those of a pipe do.
"""

import atexit
import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import socket
import sys
import traceback

import same_noise

LOADED = (
    "confide.cli.commands",
    "confide.files.policy.policy",
    "confide.release.verify.verify",
    "confide.report.pages.save",
    "confide.rows.cells.build",
    "confide.rows.sources.omop",
    "confide.service.planning.plan",
    "confide.service.reading.verify",
    "confide.service.releasing.deliver",
    "confide.workspace",
    "pandas",  # pyarrow looks for it where frames are given
    "pyarrow.compute",
    "pyarrow.parquet",
)
"""What a release loads on its way."""
DAC_OVERRIDE, DAC_READ_SEARCH, VERSION = 1, 2, 0x20080522


def without_powers() -> None:
    """Let modes of files bind root too (capset of Linux); others have no such powers."""
    libc = ctypes.CDLL(None)
    this = (ctypes.c_uint32 * 2)(VERSION, 0)
    held = (ctypes.c_uint32 * 6)()
    libc.capget(this, held)
    for place in range(3):  # effective, permitted, inheritable
        held[place] &= ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    if libc.capset(this, held) != 0:
        raise OSError("the powers of root could not be dropped")


def serve(listening: socket.socket, *, living: socket.socket) -> None:
    """Run what is asked, until whoever started this has ended and ``living`` with it."""
    same_noise.install()
    for name in LOADED:
        with contextlib.suppress(ImportError):  # what is optional is absent from some places
            importlib.import_module(name)
    while True:
        ready, _, _ = select.select([listening, living], [], [])
        with contextlib.suppress(ChildProcessError):  # what those that ended took is counted
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if living in ready:
            return
        asked, _ = listening.accept()
        if os.fork() == 0:
            for kept in (listening, living):
                kept.close()
            _answer(asked)
        asked.close()


def _answer(asked: socket.socket) -> None:
    """Say which process this is, become the command, and say with what code it ended."""
    message, streams, _, _ = socket.recv_fds(asked, 1 << 16, 3)
    while more := asked.recv(1 << 16):
        message += more
    asked.sendall(f"{os.getpid()}\n".encode())
    code = _become(json.loads(message), streams)
    asked.sendall(f"{code}\n".encode())
    os._exit(code)


def _become(given: dict, streams: list[int]) -> int:
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(given["cwd"])
        os.environ.clear()
        os.environ.update(given["env"])
        if told := os.environ.pop(same_noise.STREAM, None):
            same_noise.begin(told)
        sys.argv = ["confide", *given["words"]]
        if given["powerless"]:
            without_powers()
        if given["largest"]:
            resource.setrlimit(resource.RLIMIT_FSIZE, (given["largest"],) * 2)
        from confide.__main__ import main

        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter would
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return code


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), living=socket.socket(fileno=int(sys.argv[2])))

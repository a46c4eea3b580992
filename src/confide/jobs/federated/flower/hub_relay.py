"""The coordinator's relay: it writes to every registered site, as long as anything moves."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confide.errors import MessageRefusedError
from confide.jobs.federated.flower.mailbox import Letter, Mailbox
from confide.jobs.federated.flower.relays import OVERDUE, HubEnd
from confide.jobs.federated.flower.runtime import PAUSE, Runtime, Task, Tasks
from confide.jobs.federated.flower.written import TYPE, read_letter, written_letter
from confide.plans.sites.federation import Federation

LOOK_AT_NODES = 3.0
"""Seconds after which it is asked again which sites are there."""


def relay_hub(
    mailbox: Mailbox,
    *,
    federation: Federation,
    runtime: Runtime,
    seconds: float,
    told: Callable[[str], None],
) -> None:
    """Carry letters for each run of Flower that is begun, until nothing moved for so long.

    Args:
        mailbox: The coordinator's folder.
        federation: Who takes part; sites are registered as nodes by these names.
        runtime: Of the SuperLink, which was started with ``--isolation process``.
        seconds: How long it waits for a run, and in a run for a file.
        told: Told of what is refused, and of sites that come.

    Raises:
        UnsupportedError: Without Flower.
    """
    tasks = Tasks(runtime, is_of_site=False)
    begun = time.monotonic()
    while (left := begun + seconds - time.monotonic()) > 0:
        with tasks.next(seconds=left) as task:
            if task is None:
                return
            if not task.is_of_bundle:
                told("A run of another bundle than this relay's was refused.")
                task.done(context=None, why="another bundle")
                continue
            network = _Nodes(task, runtime=runtime, told=told)
            try:
                end = HubEnd(mailbox, federation=federation, network=network, told=told)
                carry(end, seconds=seconds)
            finally:
                network.close()
            task.done(context=network.context)
            begun = time.monotonic()


def carry(
    end: HubEnd, *, seconds: float, now: Callable[[], float] = time.monotonic, pause: float = PAUSE
) -> None:
    """Carry letters until nothing moved for so long."""
    moved = now()
    while now() < moved + seconds:
        if end.look():
            moved = now()
        time.sleep(pause)


class _Nodes:
    """The nodes of a run, as Flower's grid reaches them."""

    def __init__(self, task: Task, *, runtime: Runtime, told: Callable[[str], None]) -> None:
        from flwr.common.serde import context_from_proto, run_from_proto
        from flwr.proto.runtime_pb2 import PullTaskInputRequest
        from flwr.supercore.task_identity import TaskIdentity
        from flwr.superlink.grid import HttpGrid

        given = task.client.PullTaskInput(PullTaskInputRequest())
        TaskIdentity.task_id, TaskIdentity.run_id = given.task_id, given.run.run_id
        TaskIdentity.node_id = given.context.node_id
        self.context: Any = context_from_proto(given.context)
        self._grid: Any = HttpGrid(
            runtime_api_address=runtime.address,
            insecure=runtime.root is None,
            root_certificates=runtime.certificate,
            token=task.token,
        )
        self._grid.set_run(run_from_proto(given.run))
        self._told = told
        self._found: dict[int, str] = {}
        self._looked = float("-inf")

    def close(self) -> None:
        """Let go of the connection."""
        self._grid.close()

    def sites(self) -> Mapping[int, str]:
        """Return the nodes that are there, by the names that they were registered with."""
        if time.monotonic() - self._looked > LOOK_AT_NODES:
            found = {node.node_id: node.name for node in self._grid.get_nodes()}
            for name in sorted(set(found.values()) - set(self._found.values())):
                self._told(f"{name} is there.")
            self._found, self._looked = found, time.monotonic()
        return self._found

    def send(self, node: int, letter: Letter) -> str:
        """Send a letter to a node."""
        from flwr.app import Message

        message = Message(written_letter(letter), dst_node_id=node, message_type=TYPE, ttl=OVERDUE)
        (sent,) = self._grid.push_messages([message])
        return str(sent)

    def answers(self, sent: Iterable[str]) -> Mapping[str, Letter | None]:
        """Return the answers that came."""
        found: dict[str, Letter | None] = {}
        asked = list(sent)
        for reply in self._grid.pull_messages(asked) if asked else ():
            try:
                letter = None if reply.has_error() else read_letter(reply.content)
            except MessageRefusedError:
                letter = None
            found[reply.metadata.reply_to_message_id] = letter
        return found

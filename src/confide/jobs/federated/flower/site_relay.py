"""A site's relay: it answers letters of the coordinator, as long as any come."""

import time
from collections.abc import Callable
from typing import Any

from confide.errors import MessageRefusedError
from confide.jobs.federated.flower.relays import SiteEnd
from confide.jobs.federated.flower.runtime import Runtime, Task, Tasks
from confide.jobs.federated.flower.written import TYPE, read_letter, written_letter


def relay_site(
    end: SiteEnd, *, runtime: Runtime, seconds: float, told: Callable[[str], None]
) -> None:
    """Answer letters until none came for so long.

    Args:
        end: The site's.
        runtime: Of its SuperNode, which was started with ``--isolation process``.
        seconds: How long it waits for a letter.
        told: Told of what is refused.

    Raises:
        UnsupportedError: Without Flower.
    """
    tasks = Tasks(runtime, is_of_site=True)
    heard = time.monotonic()
    while (left := heard + seconds - time.monotonic()) > 0:
        with tasks.next(seconds=left) as task:
            if task is not None and _answered(task, end=end, told=told):
                heard = time.monotonic()


def _answered(task: Task, *, end: SiteEnd, told: Callable[[str], None]) -> bool:
    """Answer one letter; return whether it was one."""
    import httpx
    from flwr.app import Message
    from flwr.supernode.runtime.run_clientapp import pull_task_input, push_message

    try:
        message, context, _, _ = pull_task_input(task.client)
        why, content = "", None
        try:
            content = _answer(message, task=task, end=end)
        except MessageRefusedError as refusal:
            why = str(refusal)
            told(why)
        answer = _refusal(why) if content is None else content
        push_message(task.client, Message(answer, reply_to=message), context)
        task.done(context=context, why=why)
    except httpx.HTTPError:  # the run was stopped, or the SuperNode: what is lost comes again
        told("A letter was lost.")
        return False
    return not why


def _answer(message: Any, *, task: Task, end: SiteEnd) -> Any:
    if not task.is_of_bundle:
        raise MessageRefusedError("A run of another bundle than this relay's was refused.")
    if message.metadata.message_type != TYPE:
        raise MessageRefusedError("A message came that is no letter.")
    return written_letter(end.answer(read_letter(message.content)))


def _refusal(why: str) -> Any:
    from flwr.app import Error
    from flwr.common.constant import ErrorCode

    return Error(code=ErrorCode.CLIENT_APP_RAISED_EXCEPTION, reason=why)

"""``confide request endorse``: sign the next version of a policy."""

from typing import TYPE_CHECKING

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say
from confide.cli.request.options import Key

if TYPE_CHECKING:
    from confide.service.requests.endorse import Endorsed


def endorse(
    dataset: Dataset = HERE, *, key: Key, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Sign the policy that dataset.yaml names, so that it may replace the one in force."""
    from confide.service.requests.endorse import endorse as endorsed

    done = endorsed(dataset, key=key)
    output = Output(json=as_json, quiet=quiet)
    output.result("request-endorse", done, show=lambda: say(_text(done)))


def _text(done: "Endorsed") -> str:
    text = f"{done.person} signed policy {done.policy}, version {done.version}."
    if done.counts:
        return text
    names = ", ".join(f"{each.name} ({', '.join(each.roles)})" for each in done.may)
    return f"{text} It counts for nothing: {done.person} may not approve; may: {names or 'nobody'}."

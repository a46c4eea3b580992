"""``confide request endorse``: sign the next version of a policy."""

from confide.cli.output import Json, Output, Quiet, say
from confide.cli.request.options import HERE, Dataset, Key


def endorse(
    dataset: Dataset = HERE, *, key: Key, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Sign the policy that dataset.yaml names, so that it may replace the one in force."""
    from confide.budget.workflow.acts import deciders
    from confide.errors import ContractError
    from confide.release.keys import read_person_key
    from confide.workspace import open_ledger

    signer = read_person_key(key)
    with open_ledger(dataset) as (held, declared):
        policy = declared.policy
        if policy is None:
            raise ContractError(
                "dataset.yaml names no policy.", hint="Write policy: policy.yaml instead of caps:."
            )
        lineage = declared.dataset.lineage
        person = held.desk.endorse(lineage, policy=policy, signer=signer)
        present = held.desk.policy(lineage)
    may = () if present is None else deciders(present.policy)
    counts = any(each.key == person.key for each in may)
    text = f"{person.name} signed policy {policy.id}, version {policy.version}."
    if not counts:
        names = ", ".join(f"{each.name} ({', '.join(each.roles)})" for each in may)
        text += f" It counts for nothing: {person.name} may not approve; may: {names or 'nobody'}."
    body = {
        "policy": policy.id,
        "version": policy.version,
        "person": person.name,
        "counts": counts,
    }
    Output(json=as_json, quiet=quiet).result("request-endorse", body, show=lambda: say(text))

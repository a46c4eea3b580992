"""The policy that a dataset.yaml names, for whoever signs it or lets it hold."""

from confide.budget.policy.policy import Policy
from confide.errors import ContractError
from confide.files.dataset import DeclaredDataset


def named_policy(declared: DeclaredDataset) -> Policy:
    """Return it.

    Raises:
        ContractError: If there are caps instead.
    """
    if declared.policy is None:
        raise ContractError(
            "dataset.yaml names no policy.", hint="Write policy: policy.yaml instead of caps:."
        )
    return declared.policy

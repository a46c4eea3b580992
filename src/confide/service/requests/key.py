"""Make a person's key, which signs requests and decisions."""

from dataclasses import dataclass
from pathlib import Path

from confide.release.site.keys import make_person_key


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonKey:
    """A key that was made.

    Attributes:
        key: File of the private half.
        public: The public half, for the policy.
    """

    key: Path
    public: str


def make_key(out: Path) -> PersonKey:
    """Make a person's signing key in a file of mode 600.

    Raises:
        ContractError: If the file exists.
    """
    return PersonKey(key=out, public=make_person_key(out))

"""What scikit-learn expects of an estimator, without scikit-learn."""

import inspect
import sys
from typing import Any, Self

from confide.errors import ContractError, UnknownNameError


def not_fitted() -> ContractError:
    """Return the refusal of what a fit must precede; where scikit-learn is loaded, its own too."""
    kind: type[ContractError] = ContractError
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError

        class UnfittedError(ContractError, NotFittedError):  # type: ignore[misc]
            """Both."""

        kind = UnfittedError
    return kind("The model is not fitted yet.", hint="Call fit first.")


def require_width(found: int, *, expected: int) -> None:
    """Refuse rows that have more or fewer columns than the model knows."""
    if found != expected:
        raise ContractError(
            f"X has {found} features, but it is expecting {expected} features as input."
        )


class Conventions:
    """Parameters are the constructor's keywords, kept as they were given."""

    @classmethod
    def _names(cls) -> list[str]:
        found = inspect.signature(cls).parameters.values()
        return sorted(each.name for each in found if each.kind is each.KEYWORD_ONLY)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - its signature
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; what was fitted stays until the next fit.

        Raises:
            UnknownNameError: If there is no such parameter.
        """
        for name, value in params.items():
            if name not in self._names():
                raise UnknownNameError("parameter", name, known=self._names())
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"

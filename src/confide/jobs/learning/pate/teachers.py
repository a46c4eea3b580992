"""Teachers: a classifier for each shard, which sees no other shard and votes on public queries.

A teacher is a copy of one scikit-learn classifier, pipelines and searches included: whatever it
learns, scales or selects, it does so inside its shard.  What it votes is

- the class that its shard holds, if there is one only;
- the first public class on every query, if the shard is empty, or if the teacher fails, or if it
  says what is no class.

*Privacy:* a vote is a function of one shard.  Rows reach a teacher in the order of their content,
``random_state`` is a public constant, and the generators that NumPy and Python share among all are
put back after each teacher, who would otherwise leave them where its shard took them; teachers
learn one at a time, those of fits in other threads too.  A failure is a vote, and what a teacher
prints, warns or logs is dropped, by libraries in C too, and when its copy is taken apart: either
would tell about its patients.
How long teachers take is not hidden.

*Utility:* constant votes carry no signal; with few patients a teacher many teachers cast them.

References:
    [PAEGT17] Papernot, Abadi, Erlingsson, Goodfellow, Talwar. Semi-supervised knowledge transfer
        for deep learning from private training data. ICLR 2017. https://arxiv.org/abs/1610.05755
"""

import contextlib
import gc
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.errors import ContractError, MissingExtraError
from confide.jobs.learning.pate.unfitted import require_unfitted
from confide.plans.canonical import Json
from confide.release.quiet import no_output, no_warnings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

COINS = 0
"""Public ``random_state`` of every teacher and student that names none; it hides nothing."""
_SPEAKING = ("verbose", "verbosity")


class Classifier(Protocol):
    """What is asked of a teacher or student: scikit-learn's conventions."""

    def fit(self, X: Floats, y: Integers) -> Any:  # noqa: N803
        """Learn from rows and their classes."""

    def predict(self, X: Floats) -> Any:  # noqa: N803
        """Return the class of each row."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Shard:
    """Rows of one teacher; secret.

    Attributes:
        terms: Features; shape (rows, columns).
        classes: Index of each row's class.
    """

    terms: Floats
    classes: Integers

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> str:
        raise TypeError("Rows of patients are not to be stored.")


def check_teacher(teacher: Any) -> None:
    """Refuse a classifier whose vote could depend on more than its shard, or that speaks.

    Raises:
        ContractError: If it is no classifier of scikit-learn, prints, or runs beside itself.
        MissingExtraError: If scikit-learn is not installed.
    """
    for name in ("fit", "predict", "get_params"):
        if isinstance(teacher, type) or not callable(getattr(teacher, name, None)):
            raise ContractError(
                "Expected a teacher with fit, predict and get_params, as scikit-learn's.",
                hint="Write teacher=DecisionTreeClassifier(max_depth=4), an object.",
            )
    for name, value in teacher.get_params().items():
        last = name.rpartition("__")[2]
        if last in _SPEAKING and value:
            raise ContractError(
                f"The teacher prints while it learns from patients ({name}={value!r}).",
                hint=f"Write {name}=0.",
            )
        if last == "memory" and value is not None:
            raise ContractError(
                f"The teacher stores what it makes of patients' rows on disk ({name}).",
                hint=f"Write {name}=None; teachers are small.",
            )
        if last == "n_jobs" and value not in (None, 1):
            raise ContractError(
                f"The teacher learns in {value} processes, whose warnings cannot be held back.",
                hint=f"Write {name}=1; teachers are small.",
            )
    copy_of(teacher)
    described(teacher)


def try_teacher(teacher: Any, *, rows: Floats, classes: int) -> None:
    """Let a copy of the teacher learn from made-up rows, before anything is charged.

    One that cannot would vote for the first class on every shard.

    Args:
        teacher: As of :func:`check_teacher`.
        rows: Made up; more of them than a teacher of few rows may need.
        classes: How many there are.

    Raises:
        ContractError: If it fails on few rows and on all; what it says is of made-up rows.
    """
    problem = ""
    for few in (rows[: len(rows) // 20], rows):
        try:
            with _alone(_libraries()):
                fitted = copy_of(teacher)
                fitted.fit(few, np.arange(len(few)) % classes)
                _valid(np.asarray(fitted.predict(few)), queries=len(few), classes=classes)
        except Exception as broken:  # noqa: BLE001 - the teacher's own code
            problem = (str(broken).splitlines() or [type(broken).__name__])[0][:200]
        else:
            return
    raise ContractError(
        f"The teacher cannot learn from made-up rows: {problem}",
        hint="Correct its parameters; a teacher that fails votes for the first class.",
    )


def copy_of(teacher: Any) -> Any:
    """Return an unfitted copy with public coins.

    Raises:
        MissingExtraError: If scikit-learn is not installed.
        ContractError: If it cannot be copied, or the copy is fitted.
    """
    try:
        from sklearn.base import clone
    except ImportError:
        raise MissingExtraError("scikit-learn", extra="sklearn") from None
    try:
        copied = clone(teacher)
    except (TypeError, RuntimeError):
        raise ContractError("The teacher cannot be cloned by scikit-learn.") from None
    require_unfitted(copied)
    coins = {
        name: COINS
        for name, value in copied.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    if coins:
        copied.set_params(**coins)
    return copied


def described(value: Any) -> Json:
    """Return a classifier, or one of its parameters, as canonical JSON: for plan and digest.

    Raises:
        ContractError: If a parameter has no canonical form.

    Example:
        >>> described({"max_depth": 3, "alpha": 0.1})
        {'max_depth': 3, 'alpha': 'float 0x1.999999999999ap-4'}
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return f"float {value.hex()}" if math.isfinite(value) else f"float {value}"
        case list() | tuple():
            return [described(each) for each in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: described(each) for key, each in value.items()}
        case np.generic() | np.ndarray():
            return described(value.tolist())
        case type():
            return f"type {value.__module__}.{value.__qualname__}"
        case _ if callable(getattr(value, "get_params", None)):
            named = f"{type(value).__module__}.{type(value).__qualname__}"
            return {"class": named, "parameters": described(value.get_params(deep=False))}
        case _:
            raise ContractError(
                f"A parameter of type {type(value).__name__} cannot be written into a plan.",
                hint="Use numbers, texts, lists and scikit-learn's own classes.",
            )


def count_votes(
    shards: Iterator[Shard],
    *,
    teacher: Classifier,
    queries: Floats,
    classes: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Integers:
    """Return how many teachers vote for each class, exactly; shape (queries, classes).  Secret.

    Args:
        shards: Rows of each teacher.
        teacher: What is copied.
        queries: Public rows.
        classes: How many there are.
        progress: Told how many teachers have voted.
    """
    counts = np.zeros((len(queries), classes), dtype=np.int64)
    places, libraries = np.arange(len(queries)), _libraries()
    for number, shard in enumerate(shards, start=1):
        cast = votes_of(
            shard, teacher=teacher, queries=queries, classes=classes, libraries=libraries
        )
        counts[places, cast] += 1
        progress(number)
    return counts


def votes_of(
    shard: Shard, *, teacher: Classifier, queries: Floats, classes: int, libraries: Any = None
) -> Integers:
    """Return the class index that one teacher votes for on each query; total.

    Args:
        shard: Rows.
        teacher: What is copied.
        queries: Public rows.
        classes: How many there are.
        libraries: Of linear algebra; looked for when None.
    """
    present = np.unique(shard.classes)
    if present.size == 0:
        return np.zeros(len(queries), dtype=np.int64)
    if present.size == 1:
        return np.full(len(queries), present[0], dtype=np.int64)
    cast: Integers | None = np.zeros(len(queries), dtype=np.int64)
    with contextlib.suppress(Exception), _alone(libraries or _libraries()), _leaving_nothing():
        cast = _cast(shard, teacher=teacher, queries=queries, classes=classes)
    if cast is None:
        raise KeyboardInterrupt
    return cast


def _cast(shard: Shard, *, teacher: Classifier, queries: Floats, classes: int) -> Integers | None:
    """Return the votes of one teacher; None where somebody stopped the process.

    Nothing that saw the shard outlives this but the votes: a copy, and a failure with its frames,
    may say something when they are dropped.
    """
    try:
        fitted = copy_of(teacher)
        fitted.fit(shard.terms, shard.classes)
        said = np.asarray(fitted.predict(queries.copy()))
        return _valid(said, queries=len(queries), classes=classes)
    except KeyboardInterrupt:
        return None
    except BaseException:  # noqa: BLE001 - a failure is a vote, whatever its kind
        return np.zeros(len(queries), dtype=np.int64)


@contextlib.contextmanager
def _leaving_nothing() -> Iterator[None]:
    """Drop what a teacher leaves in circles, such as a failure in its own frame, while unheard.

    What was there before is set apart meanwhile, or all of it would be looked through each time;
    not where the caller has objects set apart, which would come back with ours.
    """
    ours = gc.get_freeze_count() == 0
    if ours:
        gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        if ours:
            gc.unfreeze()


def _valid(said: NDArray[Any], *, queries: int, classes: int) -> Integers:
    """Return class indices; the first class where something else was said."""
    votes = said.reshape(queries).astype(np.int64)
    return np.where((votes == said) & (votes >= 0) & (votes < classes), votes, 0)


def _libraries() -> Any:
    """Return the libraries of linear algebra that are loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_ONE = threading.RLock()


@contextlib.contextmanager
def _alone(libraries: Any) -> Iterator[None]:
    """Let a teacher learn while no other does, of this fit or of one in another thread; unheard.

    Coins and the number of threads are the whole process's.  With one thread linear algebra is
    faster for small shards, and sums keep their order.
    """
    with (
        _ONE,
        no_warnings(),
        no_output(),
        np.errstate(all="ignore"),
        libraries.limit(limits=1),
        _shared_coins(),
    ):
        yield


@contextlib.contextmanager
def _shared_coins() -> Iterator[None]:
    """Leave the generators that all teachers share as they were; no noise is drawn from them."""
    import random  # noqa: TID251 - teachers may use it

    from numpy import random as arrays  # noqa: TID251

    of_python, of_numpy = random.getstate(), arrays.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(of_python)
        arrays.set_state(of_numpy)  # noqa: NPY002


def shards_of(
    terms: Floats, *, classes: Integers, places: Integers, number: int
) -> Iterator[Shard]:
    """Yield the rows of each of ``number`` shards, in an order of their content.

    Args:
        terms: Features; shape (rows, columns).
        classes: Class of each row.
        places: Shard of each row, from 0.
        number: How many shards there are.
    """
    plain = np.ascontiguousarray(terms + 0.0)  # one zero
    order = np.lexsort((classes, *plain.view(np.int64).T[::-1], places))
    starts = np.searchsorted(places[order], np.arange(number + 1))
    for shard in range(number):
        rows = order[starts[shard] : starts[shard + 1]]
        yield Shard(terms=plain[rows], classes=classes[rows])

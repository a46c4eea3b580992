"""Nanoseconds a draw of the exact samplers, and against OpenDP's exact samplers in the same run.

Run: python benchmarks/noise.py            (OpenDP is measured if it is installed)

OpenDP is timed through its Python interface, a list of zeros in and a list of integers out; what
that conversion alone costs is measured by its identity and printed, so that it can be taken off.
"""

import importlib.util
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy

SCALES = (1, 10, 1000, 45_000)
BATCHES = (100_000, 1_000_000)
TARGET = {"Laplace": 300, "Gaussian": 500}


def nanoseconds_a_draw(draw: Callable[[int], object], *, count: int, repeats: int) -> float:
    """Return the median over ``repeats`` of the time of one draw in a batch of ``count``."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        draw(count)
        times.append((time.perf_counter() - start) / count * 1e9)
    return statistics.median(times)


def ours(name: str, scale: int) -> Callable[[int], object]:
    entropy = SystemEntropy()
    if name == "Laplace":
        laplace = DiscreteLaplace(scale=Fraction(scale))
        return lambda count: laplace.sample(count, entropy=entropy)
    gaussian = DiscreteGaussian(sigma_squared=Fraction(scale) ** 2)
    return lambda count: gaussian.sample(count, entropy=entropy)


def opendp(name: str, scale: int) -> Callable[[int], object]:
    import opendp.prelude as dp  # type: ignore[import-not-found]

    dp.enable_features("contrib", "honest-but-curious")
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if name == "identity":
        measurement = dp.t.make_identity(domain, dp.l1_distance(T=int))
    elif name == "Laplace":
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale))
    else:
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(scale))
    return lambda count: measurement([0] * count)


def main() -> None:
    with_opendp = importlib.util.find_spec("opendp") is not None
    print(
        f"{'noise':9}{'scale':>7}{'batch':>9}{'ns/draw':>9}{'target':>8}{'OpenDP':>9}{'ratio':>7}"
    )
    for name, target in TARGET.items():
        for scale in SCALES:
            for batch in BATCHES:
                mine = nanoseconds_a_draw(ours(name, scale), count=batch, repeats=5)
                row = f"{name:9}{scale:>7}{batch:>9}{mine:>9.0f}{'≤ ' + str(target):>8}"
                if with_opendp and batch == BATCHES[0]:
                    theirs = nanoseconds_a_draw(opendp(name, scale), count=batch, repeats=3)
                    row += f"{theirs:>9.0f}{theirs / mine:>7.0f}"
                print(row)
    if with_opendp:
        alone = nanoseconds_a_draw(opendp("identity", 1), count=BATCHES[0], repeats=3)
        print(f"of OpenDP's time, conversion of lists alone: {alone:.0f} ns a draw")


if __name__ == "__main__":
    main()

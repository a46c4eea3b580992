"""Secure sums of ten sites beside Flower's SecAgg+: processor seconds for a million numbers a site.

Run: .venv-flower/bin/python benchmarks/secure_sums.py (see `make flower`)

Ours is the whole protocol: every message made, signed, checked and opened.  Flower's are the calls
of its functions that its client and its workflow make of one round, without dropouts, shares for
all, and no transport; its numbers have 32 bits where ours have 64.
"""

import importlib.util
import os
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

import numpy as np

if importlib.util.find_spec("flwr") is None:
    print("Flower is not here: left out (see `make flower`)")
    sys.exit(0)

from flwr.common.secure_aggregation.crypto.shamir import combine_shares, create_shares
from flwr.common.secure_aggregation.crypto.symmetric_encryption import (
    decrypt,
    encrypt,
    generate_shared_key,
)
from flwr.common.secure_aggregation.ndarrays_arithmetic import (
    parameters_addition,
    parameters_mod,
    parameters_subtraction,
)
from flwr.common.secure_aggregation.quantization import dequantize, quantize
from flwr.common.secure_aggregation.secaggplus_utils import pseudo_rand_gen
from flwr.supercore.primitives.asymmetric import generate_key_pairs

from federations import Hospitals, Played

SITES, LENGTH, THRESHOLD, RANGE = 10, 1_000_000, 6, 1 << 32


def require(fits: bool) -> None:
    """Stop where a sum is wrong: its time says nothing."""
    if not fits:
        raise SystemExit("a sum is wrong")


def ours() -> None:
    """One whole round."""
    with tempfile.TemporaryDirectory() as folder:
        hospitals = Hospitals(Path(folder), sites=SITES, drops=2, length=LENGTH)
        played = Played(hospitals)
        found = played.whole()
        require(bool((found.total == hospitals.sum_of(range(SITES))).all()))


def flowers() -> None:
    """What SecAgg+ computes in one round."""
    rng = np.random.default_rng(1)
    vectors = [rng.normal(size=LENGTH) for _ in range(SITES)]
    masking, sharing = ([generate_key_pairs() for _ in range(SITES)] for _ in range(2))
    seeds = [os.urandom(32) for _ in range(SITES)]
    shape = [(LENGTH,)]
    shares = [create_shares(seed, THRESHOLD, SITES) for seed in seeds]
    for i in range(SITES):
        for j in range(SITES):
            if i != j:
                key = generate_shared_key(sharing[i][0], sharing[j][1])
                require(decrypt(key, encrypt(key, shares[i][j])) == shares[i][j])
    total = [np.zeros(LENGTH, dtype=np.int64)]
    for i, vector in enumerate(vectors):
        masked = quantize([vector], 8.0, 1 << 22)
        masked = parameters_addition(masked, pseudo_rand_gen(seeds[i], RANGE, shape))
        for j in range(SITES):
            if i != j:
                mask = pseudo_rand_gen(
                    generate_shared_key(masking[i][0], masking[j][1]), RANGE, shape
                )
                act = parameters_addition if i > j else parameters_subtraction
                masked = act(masked, mask)
        total = parameters_addition(total, parameters_mod(masked, RANGE))
    for i in range(SITES):
        seed = combine_shares(shares[i][:THRESHOLD])
        total = parameters_subtraction(total, pseudo_rand_gen(seed, RANGE, shape))
    total = parameters_mod(total, RANGE)
    summed = dequantize(total, 8.0, 1 << 22)[0] - (SITES - 1) * 8.0
    require(np.abs(summed - sum(np.clip(v, -8, 8) for v in vectors)).max() < 1e-3)


def main() -> None:
    """Print the median of five, in turn."""
    spent: dict[str, list[float]] = {"ours": [], "SecAgg+": []}
    for _ in range(5):
        for name, act in (("ours", ours), ("SecAgg+", flowers)):
            begun = time.process_time()
            act()
            spent[name].append(time.process_time() - begun)
    for name, seconds in spent.items():
        each = sorted(seconds)[2] / SITES
        print(f"{name:8} {each:.3f} s of one core a site and a million numbers")


if __name__ == "__main__":
    main()

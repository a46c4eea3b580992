"""Reproducible entropy, for tests only: src/ knows no seed."""

import numpy as np
from numpy.typing import NDArray

from confide.noise.entropy import require_bound


class SeededEntropy:
    """Entropy that repeats itself for a given seed."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def octets(self, count: int, /) -> NDArray[np.uint8]:
        return np.frombuffer(self._generator.bytes(count), dtype=np.uint8)

    def words(self, count: int, /) -> NDArray[np.uint64]:
        return np.frombuffer(self._generator.bytes(8 * count), dtype=np.uint64)

    def below(self, bound: int, /) -> int:
        require_bound(bound)
        bits = (bound - 1).bit_length()
        while True:
            octets = -(-bits // 8)
            drawn = int.from_bytes(self._generator.bytes(octets), "big") >> (8 * octets - bits)
            if drawn < bound:
                return drawn

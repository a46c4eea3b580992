"""Simulation after the gate: bands and null distributions, reproducible from what was published.

This is not noise: nothing private passes through it.  The generator is counter-based and keyed by
the SHA-256 of the noisy payload, so anyone who holds the payload recomputes every published number.

References:
    [SMDS11] Salmon, Moraes, Dror, Shaw. Parallel random numbers: as easy as 1, 2, 3. SC 2011.
        https://doi.org/10.1145/2063384.2063405
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """A source of reproducible generators.

    Attributes:
        payload_digest: SHA-256 of the noisy payload, hexadecimal.
    """

    payload_digest: str

    def generator(self, purpose: str) -> "np.random.Generator":  # noqa: TID251
        """Return a fresh generator for one purpose (a statistic's id and what it simulates).

        Example:
            >>> a = Simulation(payload_digest="00" * 32).generator("median/band")
            >>> b = Simulation(payload_digest="00" * 32).generator("median/band")
            >>> bool(a.integers(1 << 62) == b.integers(1 << 62))
            True
        """
        import numpy as np

        key = hashlib.sha256(f"{self.payload_digest}/{purpose}".encode()).digest()
        return np.random.Generator(np.random.Philox(key=int.from_bytes(key[:16])))  # noqa: TID251

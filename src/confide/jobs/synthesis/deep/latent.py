"""Latent coins of a VAE's rows: standard normal numbers that follow from a key and the row.

*Lemma.*  The coins of a row are a function of the key of the step and of the row itself, so who
else is in the batch moves none of them: for every key the gradient of a patient is a function of
that patient's rows and of the weights.  The clip then bounds what one patient moves, given the key;
and as it does so for every key, it does for a key that is drawn.  ∎  Numbers by the place in a
batch would not do: one patient more would shift those of all who follow.

*Utility:* two rows with equal cells have equal coins in a step, and others in the next.
"""

import hashlib

import numpy as np

from confide.arrays import Floats, Ints
from confide.noise.entropy import Entropy

_WORDS = 2
_BYTES = 64


def key_of_step(entropy: Entropy) -> bytes:
    """Return a fresh key of 16 bytes."""
    return bytes(np.asarray(entropy.words(_WORDS), dtype=np.uint64).tobytes())


def coins_of(levels: Ints, *, key: bytes, latent: int) -> Floats:
    """Return standard normal numbers for each row; shape (rows, latent).

    Args:
        levels: Of rows; shape (rows, columns).
        key: Of the step.
        latent: Numbers a row.

    Example:
        >>> rows = np.array([[0, 1], [1, 1], [0, 1]])
        >>> coins = coins_of(rows, key=bytes(16), latent=3)
        >>> bool((coins[0] == coins[2]).all()), bool((coins[0] == coins[1]).any())
        (True, False)
    """
    pairs = -(-latent // 2)
    content = np.ascontiguousarray(levels, dtype="<i8")
    words = np.empty((len(content), 2 * pairs), dtype=np.uint32)
    for place, row in enumerate(content):
        words[place] = _words(row.tobytes(), key=key, many=2 * pairs)
    uniform = (words + 0.5) / 2.0**32
    radius, angle = np.sqrt(-2 * np.log(uniform[:, :pairs])), 2 * np.pi * uniform[:, pairs:]
    normal = np.hstack([radius * np.cos(angle), radius * np.sin(angle)])
    return np.asarray(normal[:, :latent])


def _words(row: bytes, *, key: bytes, many: int) -> np.ndarray:
    blocks = [
        hashlib.blake2b(row, key=key, salt=number.to_bytes(16), digest_size=_BYTES).digest()
        for number in range(-(-4 * many // _BYTES))
    ]
    return np.frombuffer(b"".join(blocks), dtype="<u4")[:many]

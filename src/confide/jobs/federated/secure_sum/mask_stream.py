"""Masks: a key's ChaCha20 stream as 64-bit words, added to a vector modulo 2⁶⁴.

*Law.*  Words are little-endian on every machine.  A pair's mask is added by the site of the lower
number and subtracted by the other, so it vanishes from the sum; arithmetic modulo 2⁶⁴ has no
rounding, and the stream is uniform on it as far as anybody can tell who does not know the key.

*Utility:* blocks of 256 KiB stay in the processor's cache; no mask is held as a whole.
"""

import sys

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from numpy.typing import NDArray

BLOCK_WORDS = 1 << 15
_NONCE = bytes(16)


def add_mask(total: NDArray[np.uint64], *, key: bytes, sign: int) -> None:
    """Add a key's mask to a vector, or take it away, in place and modulo 2⁶⁴.

    Args:
        total: Shape (length,), contiguous.
        key: 32 bytes, used for one mask alone.
        sign: 1 or −1.

    Example:
        >>> kept = np.arange(3, dtype=np.uint64)
        >>> add_mask(kept, key=bytes(32), sign=1)
        >>> add_mask(kept, key=bytes(32), sign=-1)
        >>> kept
        array([0, 1, 2], dtype=uint64)
    """
    stream = Cipher(ChaCha20(key, _NONCE), mode=None).encryptor()
    zeros = bytes(8 * min(BLOCK_WORDS, total.size))
    buffer = bytearray(len(zeros) + 64)
    combine = np.add if sign > 0 else np.subtract
    for start in range(0, total.size, BLOCK_WORDS):
        part = total[start : start + BLOCK_WORDS]
        stream.update_into(memoryview(zeros)[: 8 * part.size], buffer)
        words = np.frombuffer(buffer, dtype="<u8", count=part.size)
        combine(part, words if sys.byteorder == "little" else words.astype(np.uint64), out=part)

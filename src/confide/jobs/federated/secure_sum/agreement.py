"""Keys of pairs of sites: X25519, HKDF-SHA256 and ChaCha20-Poly1305.

*Law.*  Two sites that know each other's public keys share X25519(a, B) = X25519(b, A).  HKDF makes
of it a key whose info holds the purpose, the round's context, the digest of the list of keys and
the ordered pair, so that no two keys are the same across rounds, pairs, directions or lists.  A key
encrypts one message, so its nonce is zero.

*Privacy:* points of small order give a shared secret that everybody knows; whatever gives the zero
secret is refused, and so is a key that is not written in its one canonical way.

References:
    [RFC7748] Langley, Hamburg, Turner. Elliptic curves for security. 2016, sec. 5–6.
        https://www.rfc-editor.org/rfc/rfc7748
    [RFC5869] Krawczyk, Eronen. HMAC-based extract-and-expand key derivation function. 2010.
        https://www.rfc-editor.org/rfc/rfc5869
    [RFC8439] Nir, Langley. ChaCha20 and Poly1305 for IETF protocols. 2018.
        https://www.rfc-editor.org/rfc/rfc8439
"""

import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PUBLIC, TAG = 32, 16
"""Bytes of a public key, and of a tag."""

_FIELD = 2**255 - 19
_ONCE = bytes(12)


def agreed(private: X25519PrivateKey, public: bytes) -> bytes | None:
    """Return the secret of a pair, 32 bytes; None if the public key is none or of small order."""
    if len(public) != PUBLIC or int.from_bytes(public, "little") >= _FIELD:
        return None
    try:
        return private.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:  # the zero secret
        return None


def is_sound(public: bytes) -> bool:
    """Return whether a public key is one that secrets can be made with.

    Example:
        >>> is_sound(bytes(32)), is_sound((9).to_bytes(32, "little"))
        (False, True)
    """
    return agreed(X25519PrivateKey.generate(), public) is not None


def key_from(secret: bytes, *, purpose: str, context: bytes, pair: tuple[int, int]) -> bytes:
    """Return the 32-byte key that a secret gives for one purpose, round and ordered pair."""
    info = b"confide secure sum 1 " + purpose.encode() + b"\n" + context + struct.pack("<HH", *pair)
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret)


def enclosed(plain: bytes, *, key: bytes, beside: bytes) -> bytes:
    """Return the one message that a key encrypts, bound to what stands beside it."""
    return ChaCha20Poly1305(key).encrypt(_ONCE, plain, beside)


def disclosed(secret: bytes, *, key: bytes, beside: bytes) -> bytes | None:
    """Return what was encrypted; None if a bit of it, or of what stands beside it, is another."""
    try:
        return ChaCha20Poly1305(key).decrypt(_ONCE, secret, beside)
    except InvalidTag:
        return None

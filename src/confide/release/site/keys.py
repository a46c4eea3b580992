"""Keys of a site: the Ed25519 key that signs, and the secret that orders rows for bounding.

Both are made once by ``confide init`` from the operating system's generator and stay in the
workspace folder with mode 0600.  The public key is handed to readers, who pin it.

References:
    [RFC8032] Josefsson, Liusvaara. Edwards-curve digital signature algorithm. 2017.
        https://www.rfc-editor.org/rfc/rfc8032
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from confide.errors import ContractError
from confide.regular_file import (
    clear_empty,
    create_durable,
    is_written,
    read_bytes,
    read_text,
    replace_durable,
    require_regular,
    sync_folder,
)

SIGNING, PUBLIC, ORDER = "signing.key", "signing.pub", "hash.key"
PENDING, OLD = "signing.key.new", "signing.old.pub"
_LOST = "Put {} back from its offline copy. Only if it was lost for good: {}confide init"
_LOST_ORDER = "Put hash.key back from its offline copy."
_DAMAGED_ORDER = (
    f"{_LOST_ORDER} Only if it was lost for good: move it away, then confide ledger unfreeze"
)
_LOST_PENDING = (
    f"Put {PENDING} back from a backup. Only if there is none, move it away: the key of before is "
    "in force, unless the ledger says that it was rotated."
)
_LARGEST_KEY = 2**16


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SigningKey:
    """The site's Ed25519 key; prints as its public half."""

    _private: Ed25519PrivateKey

    @property
    def public_key(self) -> bytes:
        """The public key, 32 bytes."""
        return self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def name(self) -> str:
        """The public key as "ed25519:" and 64 hexadecimal digits."""
        return f"ed25519:{self.public_key.hex()}"

    def sign(self, message: bytes) -> bytes:
        """Return the 64-byte signature of a message; the same one each time."""
        return self._private.sign(message)

    def secret(self) -> bytes:
        """Return the private key, 32 bytes, for a process that this one starts."""
        return self._private.private_bytes_raw()

    def __repr__(self) -> str:
        return f"SigningKey({self.name})"


def is_signed_by(public_key: str, *, message: bytes, signature: bytes) -> bool:
    """Return whether the signature is by the key that ``public_key`` names.

    Raises:
        ContractError: If the key is not "ed25519:" and 64 hexadecimal digits.
    """
    kind, _, digits = public_key.strip().partition(":")
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(digits))
    except ValueError:
        key = None
    if kind != "ed25519" or key is None:
        raise ContractError("Expected a public key of the form ed25519:<64 hexadecimal digits>.")
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def make_signing_key(folder: Path) -> None:
    """Write a new signing key and its public half, unless there is one."""
    made = not is_written(folder / SIGNING)
    if made:
        _create(folder / SIGNING, _pem(Ed25519PrivateKey.generate()))
    if made or not is_written(folder / PUBLIC):
        replace_durable(folder / PUBLIC, f"{read_signing_key(folder).name}\n".encode())


def make_order_key(folder: Path) -> None:
    """Write a new row-order key, unless there is one."""
    if not is_written(folder / ORDER):
        _create(folder / ORDER, os.urandom(32).hex().encode() + b"\n")


def _create(path: Path, content: bytes) -> None:
    """Write a key, unless somebody else makes it in this moment."""
    clear_empty(path)
    with contextlib.suppress(FileExistsError):
        create_durable(path, content)
    sync_folder(path.parent)


def make_person_key(path: Path) -> str:
    """Write a new Ed25519 key of one person, with mode 0600, and return its public half as hex.

    Raises:
        ContractError: If there is a file already; keys are not written over.
    """
    if path.exists():
        raise ContractError(
            f"{path.name} exists, and a key is not written over.", hint="Choose another --out."
        )
    private = Ed25519PrivateKey.generate()
    create_durable(path, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return SigningKey(private).public_key.hex()


def read_person_key(path: Path) -> SigningKey:
    """Return a person's key.

    Raises:
        ContractError: If it is missing, readable by others, or not an Ed25519 key.
    """
    return _signing_key(path, hint=f"Run: confide request key --out {path.name}")


def make_pending_key(folder: Path) -> SigningKey:
    """Write a signing key that is not in force yet, and return it."""
    private = Ed25519PrivateKey.generate()
    (folder / PENDING).unlink(missing_ok=True)
    create_durable(folder / PENDING, _pem(private))
    sync_folder(folder)
    return SigningKey(private)


def read_pending_key(folder: Path) -> SigningKey:
    """Return the signing key that is not in force yet."""
    return _signing_key(folder / PENDING, hint=_LOST_PENDING)


def has_pending_key(folder: Path) -> bool:
    """Return whether a rotation was cut off after its key was written; an empty file is none."""
    clear_empty(folder / PENDING)
    return (folder / PENDING).exists()


def drop_pending_key(folder: Path) -> None:
    """Forget a signing key that never came into force."""
    (folder / PENDING).unlink(missing_ok=True)
    sync_folder(folder)


def install_pending_key(folder: Path) -> None:
    """Put the pending key in the place of the old one; after a crash, again does no harm."""
    old, new = read_signing_key(folder), read_pending_key(folder)
    names = retired_keys(folder)
    if old.name not in names:
        lines = "".join(f"{name}\n" for name in (*names, old.name))
        replace_durable(folder / OLD, lines.encode())
    replace_durable(folder / PUBLIC, f"{new.name}\n".encode())
    (folder / PENDING).replace(folder / SIGNING)
    sync_folder(folder)


def retired_keys(folder: Path) -> tuple[str, ...]:
    """Return the public keys that this site signed with before, oldest first."""
    try:
        return tuple(read_text(folder / OLD, encoding="ascii").split())
    except FileNotFoundError:
        return ()
    except UnicodeDecodeError:
        raise ContractError(
            f"{OLD} is damaged.",
            hint="Put it back from a backup.",
        ) from None


def _pem(private: Ed25519PrivateKey) -> bytes:
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def read_signing_key(folder: Path) -> SigningKey:
    """Return the site's signing key.

    Raises:
        ContractError: If it is missing, unreadable, or readable by others.
    """
    return _signing_key(folder / SIGNING)


def _signing_key(path: Path, *, hint: str = "") -> SigningKey:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content = _read(path, hint=hint or _LOST.format(path.name, ""))
    try:
        private = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise ContractError(
            f"{path.name} holds no Ed25519 key: it is empty or damaged.",
            hint=hint or _LOST.format(path.name, "move it away, then "),
        )
    return SigningKey(private)


def read_order_key(folder: Path) -> bytes:
    """Return the 32 secret bytes that order rows for contribution bounding.

    Raises:
        ContractError: If they are missing or readable by others.
    """
    content = _read(folder / ORDER, hint=_LOST_ORDER)
    try:
        key = bytes.fromhex(content.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise ContractError(
            f"{ORDER} holds no key of 32 bytes in hexadecimal: it is empty or damaged.",
            hint=_DAMAGED_ORDER,
        )
    return key


def _read(path: Path, *, hint: str) -> bytes:
    try:
        mode = require_regular(path).st_mode
    except FileNotFoundError:
        raise ContractError(f"{path.name} is missing.", hint=hint) from None
    if mode & 0o077:
        raise ContractError(
            f"{path.name} can be read by others.", hint=f"Run: chmod 600 {path.name}"
        )
    return read_bytes(path, largest=_LARGEST_KEY)

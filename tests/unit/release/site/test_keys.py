"""Keys of a site and of persons, as they are written and read."""

import pytest

from confide.budget.chain.chain import is_valid
from confide.errors import ContractError
from confide.release.site.keys import (
    OLD,
    PUBLIC,
    make_person_key,
    make_signing_key,
    read_person_key,
    read_signing_key,
    retired_keys,
)
from confide.release.site.ledger_pin import FolderSite


def test_a_key_of_a_person_is_read_as_it_was_made_and_never_written_over(tmp_path):
    path = tmp_path / "officer.key"
    public = make_person_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_person_key(path).public_key.hex() == public
    with pytest.raises(ContractError, match="not written over"):
        make_person_key(path)


def test_another_process_is_handed_the_private_key_that_signs_alike(tmp_path):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    make_signing_key(tmp_path)
    key = read_signing_key(tmp_path)
    other = ed25519.Ed25519PrivateKey.from_private_bytes(key.secret())
    assert other.sign(b"head") == key.sign(b"head")
    assert is_valid(key.public_key.hex(), message=b"head", signature=key.sign(b"head").hex())


def test_the_public_half_of_a_signing_key_stands_beside_it_and_is_made_again_where_it_is_lost(
    tmp_path,
):
    make_signing_key(tmp_path)
    said = (tmp_path / PUBLIC).read_text()
    assert said == f"{read_signing_key(tmp_path).name}\n"
    (tmp_path / PUBLIC).unlink()
    make_signing_key(tmp_path)
    assert (tmp_path / PUBLIC).read_text() == said


def test_names_of_retired_keys_that_are_damaged_are_refused_in_words(tmp_path):
    assert retired_keys(tmp_path) == ()
    (tmp_path / OLD).write_bytes(b"ed25519:00\ned25519:11\n")
    assert retired_keys(tmp_path) == ("ed25519:00", "ed25519:11")
    (tmp_path / OLD).write_bytes(b"\xff")
    with pytest.raises(ContractError, match="is damaged"):
        retired_keys(tmp_path)


def test_an_anchor_that_another_process_noted_is_noted(tmp_path, monkeypatch):
    site = FolderSite(tmp_path)
    site.ledger = "l1"
    monkeypatch.setattr(FolderSite, "is_unanchored", True)  # it was, a moment ago
    site.anchored()
    assert not list(tmp_path.iterdir())

"""Keys of the hashes of ids: by their definition, in the standard library."""

import hashlib
import hmac

from confide.privacy.unit import Entity
from confide.rows.cells.identity import identity_key


def test_ids_of_patients_and_of_hospitals_are_hashed_with_keys_that_say_which():
    for of, word in ((Entity.PATIENT, b"patient"), (Entity.HOSPITAL, b"hospital")):
        message = b"confide " + word + b" identities 1"
        said = hmac.new(b"a key", message, hashlib.sha256).digest()
        assert identity_key(b"a key", of=of) == said

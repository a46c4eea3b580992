"""The quick way to canonical JSON gives the bytes of the slow one."""

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from confide.budget.chain.chain import canonical

TEXTS = st.text(st.characters(max_codepoint=127)) | st.text()
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_canonical_json_is_that_of_rfc_8785_for_every_value(fields):
    assert canonical(fields) == rfc8785.dumps(fields).decode()

"""A line of the anchor says the same whichever way it is read."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.budget.chain.chain import Holding, SignedHead, canonical, sign_head
from confide.budget.integrity import anchor_line
from confide.budget.integrity.anchor_line import line_of
from ledgers import SiteKey

SIGNER = SiteKey()
NAMES = st.sampled_from(
    [
        "lifetime",
        "calendar-year/2027",
        "calendar-year/x",
        "rolling-365d",
        "delta",
        "analyst/lifetime/ada",
        "project/lifetime/Zoë",
        'analyst/lifetime/"',
        "analyst/lifetime/\\",
        "other",
        "",
    ]
)
TEXTS = st.one_of(st.sampled_from(["reserved", "", 'a"b', "a\\b", "ö", "a\nb"]), st.text())
PURE = ("patient", "add-remove", "pure")
CAPS = {"release": None, "calendar-year": "5", "lifetime": "9", "lifetime-delta": "0"}
HEADS = st.builds(
    SignedHead,
    number=st.integers(0, 10**20),
    hash=st.sampled_from(["0" * 64, "a1" * 32, "A1" * 32, "short"]),
    kind=TEXTS,
    lineage=TEXTS,
    spent=st.dictionaries(NAMES, st.integers(0, 2**64), max_size=4),
    key=st.just(SIGNER.public_key.hex()),
    officers=st.lists(st.lists(TEXTS, max_size=2).map(tuple), max_size=2).map(tuple),
    adopted=st.none() | st.tuples(st.integers(0, 9), st.just("b" * 64)),
    terms=st.sampled_from([(), PURE, ("event", "substitute", "zcdp"), ("event",), ("a", "b", "c")]),
    caps=st.sampled_from([None, None, CAPS, {}, {**CAPS, "lifetime": "01"}, {**CAPS, "more": "1"}]),
    held=st.lists(
        st.builds(
            Holding,
            lineage=TEXTS,
            spent=st.dictionaries(NAMES, st.integers(0, 2**64), max_size=2),
            terms=st.sampled_from([(), PURE, ("event",)]),
            caps=st.sampled_from([None, CAPS, {}, {**CAPS, "lifetime": "01"}]),
            adopted=st.lists(st.tuples(st.integers(0, 9), st.just("b" * 64)), max_size=2).map(
                tuple
            ),
            others=st.lists(st.sampled_from([(), PURE, ("event",)]), max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
)
EDITS = st.sampled_from(
    [
        ("}", ",}"),
        ("{}", '{"lifetime":"-1"}'),
        ('":"', '": "'),
        ('"1', '"01'),
        ('","', '",'),
        ("a", "b"),
        ("[[", "[[[]],["),
        ('"number":"', '"number":"+'),
        ('"key":"', '"key":"\\u0061'),
        ('"officers":', '"officers":[],"officers":'),
        ('"spent"', '"more":"1","spent"'),
        ('"spent":{', '"spent":{"z":"1",'),
        ('"lifetime":"', '"lifetime":"1","lifetime":"'),
        ('"pure"', '"zcdp"'),
        ('"pure"', '"pure","pure"'),
        ('"terms":[', '"terms":[],"terms":['),
        ('"terms":[', '"terms":["patient",'),
        ('"hash":"', '"hash":"g'),
        ('"hash":"0', '"hash":"A'),
        ('"number":"', '"number":"9","number":"'),
        ('"signature":"', '"signature":"0'),
        ('"signature":"', f'"signature":"{"1" * 128}","signature":"'),
        ('"signature":"', f'"signature":"{"g" * 128}'),
        ('"officers":[[', '"officers":[["\\",\\"signature\\":\\"",'),
        ('"officers":[[', f'"officers":[[","signature":"{"1" * 128}",'),
        ('"lineage":"', '"lineage":"","number":"3'),
    ]
)


def as_read_slowly(text: bytes):
    """Return what a line says, taken apart."""
    return anchor_line._parse(text)


def require_same(text: bytes) -> None:
    line, head = line_of(text), as_read_slowly(text)
    assert (line is None) == (head is None)
    if line is not None:
        assert line.head() == head
        assert (line.number, line.hash) == (head.number, head.hash)
        assert (line.key, line.signature) == (head.key, head.signature)
        assert line.message == head.message()


@given(HEADS)
def test_a_line_is_read_as_if_it_were_taken_apart(head):
    try:
        text = canonical(sign_head(head, signer=SIGNER).to_fields()).encode()
    except ValueError:
        return  # half a character cannot be written
    require_same(text)


@given(HEADS, st.lists(st.tuples(EDITS, st.integers(0, 3)), min_size=1, max_size=3))
def test_a_line_that_was_edited_is_read_as_if_it_were_taken_apart(head, edits):
    try:
        text = canonical(sign_head(head, signer=SIGNER).to_fields())
    except ValueError:
        return
    line_of(text.encode())  # what is known of one line is used for the next
    for (before, after), place in edits:
        parts = text.split(before)
        at = 1 + place % max(1, len(parts) - 1)
        text = before.join(parts[:at]) + (after if len(parts) > 1 else "") + before.join(parts[at:])
    require_same(text.encode())


def usual(**changes) -> SignedHead:
    head = SignedHead(
        number=7,
        hash="a" * 64,
        kind="reserved",
        lineage="clinic",
        spent={"lifetime": 5, "calendar-year/2027": 3},
        key=SIGNER.public_key.hex(),
        officers=(("c" * 64, "d" * 64), ("e" * 64,)),
        terms=PURE,
    )
    return sign_head(replace(head, **changes), signer=SIGNER)


@pytest.mark.parametrize(
    "changes",
    [{}, {"officers": ()}, {"spent": {}}, {"terms": ()}, {"kind": "published", "number": 10**17}],
)
def test_the_usual_line_is_not_taken_apart(monkeypatch, changes):
    text = canonical(usual(**changes).to_fields()).encode()
    expected = as_read_slowly(text)
    monkeypatch.delattr(anchor_line, "_parse")
    line = line_of(text)
    assert line.message == expected.message()


@pytest.mark.parametrize("names", [["rolling-365d", "lifetime"], ["lifetime", "lifetime"]])
def test_counters_out_of_order_or_named_twice_are_not_taken_as_they_stand(names):
    fields = usual(spent={}).to_fields()
    spent = ",".join(f'"{name}":"{place}"' for place, name in enumerate(names))
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    require_same(text.replace('"spent":{}', f'"spent":{{{spent}}}').encode())

"""What a release made of earlier ones is called on its page, and what is said of its certificate."""

import pytest

from confide.drawing.words import load_words
from confide.plans.plan import Study
from confide.report.wording.explain import explain_certificate
from confide.workspace import open_workspace

WORDS = load_words("en")
DATASET = {
    "dataset": {"id": "town", "lineage": "town", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "person", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "9"}},
    "tables": {
        "people": {"rows-per-patient": "1", "columns": {"sex": {"categories": ["F", "M"]}}},
    },
}
COUNT = {"id": "n", "kind": "count", "table": "people"}


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    import pyarrow as pa

    frame = pa.table({"person": ["1", "2", "3"], "sex": ["F", "M", "F"]})
    folder = tmp_path_factory.mktemp("town")
    with open_workspace(DATASET, frames={"people": frame}, folder=folder) as opened:
        opened.release(opened.plan(COUNT, epsilon="1", study=Study(id="first")))
        yield opened


@pytest.mark.parametrize(
    ("title", "told"), [("", "again"), ("Second look", "Second look"), ("x" * 170, "x" * 159 + "…")]
)
def test_a_reused_release_is_called_by_its_title_or_else_by_its_id(ws, tmp_path, title, told):
    study = Study(id="again", title=title)
    again = ws.reuse(ws.plan(COUNT, epsilon="1", study=study))
    again.save(tmp_path / "out")
    assert f"<title>{told}</title>" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_certificate_of_a_reused_release_is_explained_as_free(ws):
    again = ws.reuse(ws.plan(COUNT, epsilon="1", study=Study(id="again")))
    told = explain_certificate({**again.certificate, "id": "x" * 200}, words=WORDS)
    assert told.sentences == (WORDS.say("reuse.free"), WORDS.say("reuse.sources"))
    assert told.title == WORDS.say("explain.certificate-title", id="x" * 159 + "…")

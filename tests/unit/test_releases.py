"""What one does with a release in Python: tables, frames, figures, a folder, and back."""

import json

import pytest

import confide

pytest.importorskip("pandas")

import pandas as pd

from every_kind import STUDIES, dataset, frames

ASKS = [{"id": kind, "kind": kind, **asked} for kind, asked in STUDIES.items()]
COLUMNS = ["value", "standard_error", "lower", "upper", "level", "covers", "unit", "flags"]


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    place = tmp_path_factory.mktemp("town")
    with confide.open(dataset(measure="zcdp"), frames=frames(), folder=place) as ws:
        yield ws


@pytest.fixture(scope="module")
def release(ws):
    """Every kind of statistic in one release."""
    return ws.release(ws.plan(*ASKS, epsilon="100"))


@pytest.fixture(scope="module")
def small(ws):
    return ws.release(ws.plan(*ASKS[:2], epsilon="1"))


@pytest.fixture(scope="module")
def withheld(ws, tmp_path_factory):
    """A release whose counts a house rule withholds: the town has 60 people."""
    study = tmp_path_factory.mktemp("studies") / "study.yaml"
    study.write_text(
        "study: {id: few, purpose: test}\n"
        "small-cells: {rule: cms, noisy: published}\n"
        "statistics:\n"
        "  - {id: nobody, kind: count, table: people, where: {ill: [no], dose: [low], ward: [west]}}\n"
        "  - {id: none, kind: histogram, table: people, by: [sex],"
        " where: {dose: [low], ward: [west]}}\n"
        "spend: {at-most: {epsilon: 5}}\n"
    )
    return ws.release(ws.study(study).plan())


@pytest.fixture(scope="module")
def folder(release, tmp_path_factory):
    place = tmp_path_factory.mktemp("saved") / "out"
    release.save(place)
    return place


@pytest.fixture(scope="module")
def loaded(folder):
    return confide.load(folder)


def test_a_release_comes_back_from_its_folder_as_it_was(release, loaded):
    assert isinstance(loaded, confide.Release)
    assert loaded == release


def test_one_tidy_table_holds_every_number_and_names_its_statistic(release):
    table = release.to_arrow()
    assert table.num_rows == len(release.estimates)
    assert table.column_names[:2] == ["statistic", "quantity"]
    assert table.column_names[-len(COLUMNS) :] == COLUMNS
    assert table["statistic"].to_pylist() == [each.statistic for each in release.estimates]
    assert table["value"].to_pylist() == [each.value for each in release.estimates]
    rows = [row for row in table.to_pylist() if row["statistic"] == "histogram"]
    assert [row["dose"] for row in rows] == ["low", "mid", "high"]
    assert {row["sex"] for row in rows} == {None}


@pytest.mark.parametrize("kind", STUDIES)
def test_the_table_of_one_statistic_is_that_of_the_folder(kind, release, folder):
    table = release.to_arrow(kind)
    assert "statistic" not in table.column_names
    assert table.num_rows == len(release.of(kind))
    pd.testing.assert_frame_equal(
        table.to_pandas(), pd.read_parquet(folder / "tables" / f"{kind}.parquet")
    )


def test_frames_of_pandas_and_polars_hold_the_same(release):
    pl = pytest.importorskip("polars")
    found, other = release.to_pandas(), release.to_polars()
    assert isinstance(found, pd.DataFrame)
    assert isinstance(other, pl.DataFrame)
    assert list(found.columns) == other.columns == release.to_arrow().column_names
    assert found["value"].dropna().tolist() == other["value"].drop_nulls().to_list()
    one = release.of("count")[0]
    assert release.to_pandas("count").loc[0, "value"] == one.value
    assert release.to_polars("count")["value"][0] == one.value


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_a_library_that_is_not_installed_says_how_to_install_it(
    library, small, monkeypatch
):
    import sys

    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(confide.errors.MissingExtraError, match="frames"):
        getattr(small, f"to_{library}")()


@pytest.mark.parametrize("kind", STUDIES)
def test_every_statistic_has_a_table_and_a_figure_or_says_why_not(kind, loaded, folder):
    table = loaded.table(kind)
    assert all(len(row) == len(table.head) for row in table.rows)
    assert table._repr_html_().startswith("<div>")
    assert table.head[0] in str(table)
    drawn = folder / "figures" / f"{kind}.svg"
    if drawn.exists():
        figure = loaded.figure(kind)
        assert figure._repr_svg_() == drawn.read_text("utf-8")
        assert figure.title in repr(figure)
    else:
        assert all(each.value is None for each in loaded.of(kind))
        with pytest.raises(confide.errors.ContractError, match="there is no figure"):
            loaded.figure(kind)


def test_a_figure_is_saved_as_the_report_draws_it(release, folder, tmp_path):
    figure = release.figure("count")
    for suffix in ("svg", "png"):
        figure.save(tmp_path / f"own.{suffix}")
        own = (tmp_path / f"own.{suffix}").read_bytes()
        assert own == (folder / "figures" / f"count.{suffix}").read_bytes()
    figure.save(str(tmp_path / "own.json"))
    assert json.loads((tmp_path / "own.json").read_text("utf-8")) == figure.spec
    assert "vega-lite" in figure.spec["$schema"]
    with pytest.raises(confide.errors.ContractError, match=r"\.svg, \.png or \.json"):
        figure.save(tmp_path / "own.tiff")


def test_an_unknown_id_is_answered_with_the_ids_there_are(small):
    for ask in (small.of, small.table, small.figure, small.to_arrow, small.to_pandas):
        with pytest.raises(confide.errors.UnknownNameError, match="Declared: count, histogram"):
            ask("zzz")
        with pytest.raises(confide.errors.UnknownNameError, match="Did you mean 'count'"):
            ask("coutn")


def test_a_statistic_itself_will_do_for_its_id(small):
    first = small.plan.statistics[0]
    assert small.table(first) == small.table(first.id)
    assert small.figure(first).title == small.figure(first.id).title
    assert small.to_arrow(first) == small.to_arrow(first.id)


def test_a_release_prints_and_shows_itself_briefly(release, small, loaded):
    number = release.certificate["id"]
    assert repr(release) == (
        f"<Release {number}: count, histogram, sum, mean and {len(STUDIES) - 4} more>"
    )
    assert repr(small).endswith(": count, histogram>")
    shown = small._repr_html_()
    assert small.certificate["id"] in shown
    assert "<script" not in shown
    assert len(shown) < 2_000
    assert "ε" in shown
    assert loaded._repr_html_() == release._repr_html_()
    assert f"and {len(STUDIES) - 30} more statistics" in release._repr_html_()


def test_ids_and_titles_are_escaped_where_a_notebook_shows_them(ws):
    asked = {"id": "n", "kind": "count", "table": "people", "title": "<script>alert(1)</script>"}
    release = ws.release(ws.plan(asked, epsilon="1"))
    for shown in (release._repr_html_(), release.table("n")._repr_html_()):
        assert "<script" not in shown


def test_what_a_house_rule_withheld_is_in_the_table_and_not_in_a_figure(withheld, tmp_path):
    withheld.save(tmp_path / "out")
    for release in (withheld, confide.load(tmp_path / "out")):
        assert release.of("nobody")[0].value is None
        assert "withheld" in str(release.table("nobody"))
        assert release.to_arrow()["value"].null_count == len(release.estimates)
        assert release.to_pandas("nobody")["value"].isna().all()
        assert "nobody" in release._repr_html_()
        with pytest.raises(confide.errors.ContractError, match=r"release\.table\('nobody'\)"):
            release.figure("nobody")


def test_what_a_model_shows_besides_has_a_name_of_its_own(ws):
    model = {
        "id": "risk",
        "kind": "logistic-regression",
        **STUDIES["logistic-regression"],
        "hold-out": "0.5",
    }
    release = ws.release(ws.plan(model, epsilon="200"))
    assert release.figure("risk").title
    with pytest.raises(confide.errors.UnknownNameError) as refused:
        release.figure("risk.zzzzz")
    names = [each.strip(" .") for each in str(refused.value).partition("Declared:")[2].split(",")]
    for name in names:
        assert release.figure(name)._repr_svg_().startswith("<svg")


def test_a_release_made_of_others_is_saved_shown_and_loaded_like_any(ws, small, tmp_path):
    again = ws.reuse(ws.plan(ASKS[1], epsilon="1"))
    assert isinstance(again, confide.Release)
    again.save(tmp_path / "again")
    loaded = confide.load(tmp_path / "again")
    assert loaded == again
    assert repr(loaded).startswith("<ReusedRelease ")
    assert loaded.table("histogram") == again.table("histogram")
    assert loaded.figure("histogram")._repr_svg_().startswith("<svg")
    assert "charged" in loaded._repr_html_()
    assert loaded.to_arrow().num_rows == 3


def test_a_folder_that_was_changed_is_not_loaded(small, tmp_path):
    small.save(tmp_path / "out")
    file = tmp_path / "out" / "tables" / "count.csv"
    file.write_text(file.read_text("utf-8") + "\n", "utf-8")
    with pytest.raises(confide.errors.VerificationError, match="does not verify"):
        confide.load(tmp_path / "out")
    with pytest.raises(confide.errors.VerificationError, match=r"There is no .*certificate\.json"):
        confide.load(tmp_path / "nowhere")


def test_a_folder_signed_by_another_key_is_not_loaded_for_who_pins_one(ws, small, tmp_path):
    small.save(tmp_path / "out")
    assert confide.load(tmp_path / "out", key=ws.public_key) == small
    with pytest.raises(confide.errors.VerificationError, match="signer"):
        confide.load(tmp_path / "out", key="0" * 64)


@pytest.mark.parametrize("call", ["release", "advance"])
def test_a_file_where_a_plan_is_expected_is_told_how_to_become_one(ws, call):
    before = ws.spent()
    with pytest.raises(confide.errors.ContractError, match=r"Expected a plan, got str") as told:
        getattr(ws, call)("study.yaml")
    assert 'ws.study("study.yaml").plan()' in told.value.hint
    assert ws.spent() == before

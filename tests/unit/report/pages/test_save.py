import io
import json

import pyarrow.csv
import pyarrow.parquet
import pytest

import cohorts
from confide.drawing.words import load_words
from confide.errors import ContractError
from confide.plans.canonical import canonical_bytes
from confide.release.verify.verify import read_certificate, verify
from confide.report.pages import folder as saving
from confide.report.pages.save import contents, save
from confide.report.release import Release
from confide.statistics.count.spec import Count

COUNT = Count(id="diabetes", table="person")


@pytest.fixture(scope="module")
def small() -> Release:
    return cohorts.release_of(cohorts.plan_of((COUNT,), dataset=cohorts.hospital()))


def _tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_saved_release_verifies(small, tmp_path):
    save(small, tmp_path / "out")
    certificate = read_certificate(tmp_path / "out" / "certificate.json")
    checks = verify(certificate, folder=tmp_path / "out").checks
    assert [check for check in checks if not check.holds] == []
    assert certificate == small.certificate


def test_the_files_of_every_kind_of_statistic_verify(release, files, tmp_path):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert verify(release.certificate, folder=tmp_path).holds
    (tmp_path / "tables" / "sbp.csv").write_bytes(files["tables/sbp.csv"] + b"\n")
    assert not verify(release.certificate, folder=tmp_path).holds


def test_the_exact_published_bytes_are_written(release, files):
    assert files["noisy.json"] == release.noisy.payload()
    assert files["certificate.json"] == canonical_bytes(release.certificate)
    names = {statistic.id for statistic in release.plan.statistics}
    assert names == {path[7:-4] for path in files if path.endswith(".csv")}
    assert names == {path[7:-8] for path in files if path.endswith(".parquet")}
    assert names == {path[8:-4] for path in files if path.endswith(".png")}


def test_parquet_and_csv_hold_the_same_numbers(files):
    table = pyarrow.parquet.read_table(io.BytesIO(files["tables/sbp.parquet"]))
    csv = pyarrow.csv.read_csv(io.BytesIO(files["tables/sbp.csv"]))
    assert table.column_names == csv.column_names
    for name in ("value", "lower", "upper"):
        assert table[name].to_pylist() == pytest.approx(csv[name].to_pylist(), rel=1e-9)


def test_saving_twice_gives_the_same_bytes_and_leaves_nothing_beside_it(small, tmp_path):
    out = tmp_path / "out"
    stages = []
    save(small, out, progress=stages.append)
    before = _tree(out)
    save(small, out)
    assert _tree(out) == before
    assert stages == ["tables", "figures", "report", "write"]
    assert _names(tmp_path) == ["out"]


def test_an_empty_folder_is_filled(small, tmp_path):
    save(small, tmp_path)
    assert (tmp_path / "report.html").is_file()


def test_another_release_is_never_overwritten(small, tmp_path):
    save(small, tmp_path / "out")
    before = _tree(tmp_path / "out")
    other = cohorts.release_of(small.plan, number=8)
    with pytest.raises(ContractError, match="something else"):
        save(other, tmp_path / "out")
    assert _tree(tmp_path / "out") == before


@pytest.mark.parametrize("content", [b"mine", b"[]", b"{}"])
def test_a_folder_with_other_files_is_left_alone(small, tmp_path, content):
    (tmp_path / "certificate.json").write_bytes(content)
    with pytest.raises(ContractError, match="new or empty folder"):
        save(small, tmp_path)
    assert _tree(tmp_path) == {"certificate.json": content}


def test_a_readers_own_file_is_never_swept_away(small, tmp_path):
    save(small, tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(ContractError, match="something else"):
        save(small, tmp_path / "out")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_a_failure_leaves_no_half_report(small, tmp_path, monkeypatch):
    written = []

    def failing(path, content):
        written.append(path.name)
        if len(written) == 3:
            raise OSError(28, "No space left on device")
        path.write_bytes(content)

    monkeypatch.setattr(saving, "_write_file", failing)
    with pytest.raises(OSError, match="No space"):
        save(small, tmp_path / "out")
    assert _names(tmp_path) == []


def test_methods_state_mechanism_scale_unit_loss_and_certificate(files, release):
    text = files["methods.md"].decode()
    for part in (
        "all records of one patient, added or removed",
        "ε = 3.138 at δ = 10⁻⁶",
        "ρ = 0.2",
        "discrete Gaussian noise of standard deviation",
        "north-ehr/7",
        "LOINC 8480-6",
        release.certificate["issuer"]["key"],
    ):
        assert part in text, part


def test_a_hostile_title_stays_text_in_the_methods(words):
    study = Count(id="a", table="person", title="![x](https://evil.example/p.png) <b>")
    release = cohorts.release_of(cohorts.plan_of((study,), dataset=cohorts.hospital()))
    text = contents(release, words=words)["methods.md"].decode()
    assert "\\!\\[x\\](https" in text
    assert "<b>" not in text


def test_the_certificate_is_json_that_others_can_read(files):
    assert json.loads(files["certificate.json"])["certificate"] == "2"


def test_an_unknown_language_is_refused_before_anything_is_written(small, tmp_path):
    with pytest.raises(ContractError):
        save(small, tmp_path / "out", language="xx")
    assert _names(tmp_path) == []
    assert load_words("en").language == "en"

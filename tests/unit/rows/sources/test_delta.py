"""Delta tables: the files of the latest version, or a refusal that names what a reader needs."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import ContractError
from confide.files.dataset import declare
from confide.files.yaml_text import parse_yaml
from confide.rows.engines.duckdb import open_engine
from confide.rows.sources.delta import DELTA_LOG, delta_files, latest_versions
from confide.rows.sources.prepare import state_of
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from confide.tables.source import SourceKind
from confide.tables.source_files import table_files
from spark_rows import needs_spark, opened_quickly

DATASET = """\
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: KIND, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 1}}
tables: {visits: {columns: {ward: {categories: [a, b]}}}}
"""
KEY = b"0123456789abcdef"
PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
ABOUT = {
    "metaData": {
        "id": "t",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": "{}",
        "partitionColumns": [],
        "configuration": {},
    }
}
COUNT = Aggregate(
    relation=Relation(table="visits"),
    axes=(ColumnOf(table="visits", column="ward"),),
    value=Ones(),
    bounds=RowBound(max_rows=1),
)


def add(name, **more):
    return {"add": {"path": name, "size": 1, "partitionValues": {}, "dataChange": True, **more}}


def remove(name, **more):
    return {"remove": {"path": name, "dataChange": True, **more}}


def with_features(*features, **settings):
    reader = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": list(features)}
    about = {"metaData": {**ABOUT["metaData"], "configuration": settings}}
    return [{"protocol": reader}, about]


def commit(folder, version, *actions):
    (folder / DELTA_LOG).mkdir(parents=True, exist_ok=True)
    text = "\n".join(json.dumps(each) for each in ({"commitInfo": {}}, *actions))
    (folder / DELTA_LOG / f"{version:020d}.json").write_text(text)


def rows(folder, name, **wards):
    folder.mkdir(exist_ok=True)
    people = [(pid, ward) for ward, number in wards.items() for pid in range(number)]
    ids = [100 * int(name[0]) + place for place in range(len(people))]
    pq.write_table(pa.table({"pid": ids, "ward": [ward for _, ward in people]}), folder / name)


def table(folder):
    """A table of three versions: one file, one more, and the first written anew."""
    visits = folder / "visits"
    rows(visits, "0.parquet", a=3)
    rows(visits, "1 é.parquet", b=2)
    rows(visits, "2.parquet", a=1)
    commit(visits, 0, PROTOCOL, ABOUT, add("0.parquet"))
    commit(visits, 1, add("1%20%C3%A9.parquet"))
    commit(visits, 2, add("2.parquet"), remove("0.parquet"))
    return visits


def names(folder):
    return [file.name for file in delta_files(folder)]


def counted(folder, kind):
    declared = declare(
        parse_yaml(DATASET.replace("KIND", kind), name="d"), path=folder / "dataset.yaml"
    )
    of = declared.dataset
    opening = opened_quickly if kind == "spark" else open_engine
    with opening(declared.source, base=folder, dataset=of, hash_key=KEY, threads=2) as engine:
        found = engine.aggregate((COUNT,), dataset=of).reveal_to_gate()
        assert engine.state == state_of(declared.source, base=folder, dataset=of)
        return found[0], engine.state


def test_a_delta_table_is_the_files_of_its_latest_version(tmp_path):
    table(tmp_path)
    found, state = counted(tmp_path, "parquet")
    assert found == (1, 2)
    assert [file.name for file in state.files] == ["1 é.parquet", "2.parquet"]
    commit(tmp_path / "visits", 3, remove("1%20%C3%A9.parquet"))
    found, later = counted(tmp_path, "parquet")
    assert found == (1, 0)
    assert later != state


def test_a_log_beside_files_of_another_kind_says_nothing_of_them(tmp_path):
    visits = table(tmp_path)
    (visits / "0.csv").write_text("pid,ward\n1,a\n2,b\n3,b\n")
    assert counted(tmp_path, "csv")[0] == (1, 2)


@needs_spark()
def test_spark_reads_the_latest_version_of_a_delta_table(tmp_path):
    table(tmp_path)
    assert counted(tmp_path, "spark")[0] == (1, 2)


def test_an_omop_table_that_is_a_delta_table_is_its_latest_version(tmp_path):
    visits = table(tmp_path)
    every = tuple(sorted(visits.glob("*.parquet")))
    ((*found,),) = latest_versions((every,), folder=tmp_path / "VISITS")
    assert [file.name for file in found] == ["1 é.parquet", "2.parquet"]


@pytest.mark.parametrize("parts", [1, 2])
def test_a_checkpoint_stands_for_the_commits_before_it(tmp_path, parts):
    visits = table(tmp_path)
    actions = [PROTOCOL, ABOUT, remove("0.parquet"), add("1%20%C3%A9.parquet"), add("2.parquet")]
    kinds = ("protocol", "metaData", "remove", "add")
    log = visits / DELTA_LOG
    for part in range(parts):
        some = [{kind: each.get(kind) for kind in kinds} for each in actions[part::parts]]
        middle = f".{part + 1:010d}.{parts:010d}" if parts > 1 else ""
        path = log / f"{2:020d}.checkpoint{middle}.parquet"
        kept = [{k: _filled(k, v) for k, v in row.items()} for row in some]
        pq.write_table(pa.Table.from_pylist(kept, schema=_SCHEMA), path)
    for version in (0, 1):
        (log / f"{version:020d}.json").unlink()
    rows(visits, "3.parquet", a=1)
    commit(visits, 3, add("3.parquet"), remove("2.parquet"))
    assert names(visits) == ["1 é.parquet", "3.parquet"]
    for part in log.glob("*.checkpoint.*1.*.parquet" if parts > 1 else "*.checkpoint.parquet"):
        part.unlink()  # one that is not whole is none
    with pytest.raises(ContractError, match="lacks version 0"):
        delta_files(visits)


_TEXT = pa.string()
_SCHEMA = pa.schema(
    {
        "protocol": pa.struct({"minReaderVersion": pa.int32(), "minWriterVersion": pa.int32()}),
        "metaData": pa.struct(
            {
                "id": _TEXT,
                "format": pa.struct({"provider": _TEXT, "options": pa.map_(_TEXT, _TEXT)}),
                "partitionColumns": pa.list_(_TEXT),
                "configuration": pa.map_(_TEXT, _TEXT),
            }
        ),
        "remove": pa.struct({"path": _TEXT}),
        "add": pa.struct({"path": _TEXT, "size": pa.int64()}),
    }
)


def _filled(kind, action):
    known = _SCHEMA.field(kind).type
    return action and {k: v for k, v in action.items() if known.get_field_index(k) >= 0}


DELETED = {"storageType": "u", "pathOrInlineDv": "ab", "offset": 1, "sizeInBytes": 4}


@pytest.mark.parametrize(
    ("actions", "why"),
    [
        ([{"protocol": {"minReaderVersion": 4}}, ABOUT], "reader version 4"),
        (with_features("typeWidening"), "'typeWidening'"),
        (with_features("v2Checkpoint"), "'v2Checkpoint'"),
        (with_features("catalogManaged"), "'catalogManaged'"),
        (with_features("variantType"), "'variantType'"),
        (with_features("columnMapping", **{"delta.columnMapping.mode": "name"}), "columnMapping"),
        ([add("0.parquet", deletionVector=DELETED)], "deletion vectors"),
        ([{"metaData": {**ABOUT["metaData"], "partitionColumns": ["ward"]}}], "partition columns"),
        ([{"metaData": {**ABOUT["metaData"], "format": {"provider": "orc"}}}], "not stored as"),
        ([add("file:///elsewhere/0.parquet")], "files of another table"),
        ([add("s3://bucket/0.parquet")], "files of another table"),
        ([add("../people/0.parquet")], "files of another table"),
        ([add("_2.parquet")], "begin with . or _"),
        ([add("_part/2.parquet")], "begin with . or _"),
        ([add("2.csv")], "do not end in"),
        ([add("http://[x/1.parquet")], "cannot be read"),
        ([add("%00.parquet")], "cannot be read"),
        ([add("%ff.parquet")], "cannot be read"),
        ([add("2.parquet?of=another")], "cannot be read"),
        ([{"add": {"size": 1}}], "cannot be read"),
        ([{"add": {"path": 1}}], "cannot be read"),
        ([{"add": "2.parquet"}], "cannot be read"),
        (with_features({"name": "typeWidening"}), "cannot be read"),
        ([{"metaData": {**ABOUT["metaData"], "format": "parquet"}}], "cannot be read"),
        ([{"metaData": {**ABOUT["metaData"], "configuration": "none"}}], "cannot be read"),
    ],
)
def test_a_delta_table_that_is_more_than_its_files_is_refused_by_name(tmp_path, actions, why):
    visits = table(tmp_path)
    commit(visits, 3, *actions)
    with pytest.raises(ContractError, match=why) as refused:
        counted(tmp_path, "parquet")
    assert "Parquet" in refused.value.hint


def test_rows_that_were_deleted_by_a_vector_and_purged_are_no_rows(tmp_path):
    visits = table(tmp_path)
    commit(visits, 3, *with_features("deletionVectors", "timestampNtz"))
    commit(visits, 4, add("2.parquet", deletionVector=DELETED), remove("2.parquet"))
    with pytest.raises(ContractError, match="deletion vectors"):
        delta_files(visits)
    commit(visits, 5, remove("2.parquet", deletionVector=DELETED))
    assert names(visits) == ["1 é.parquet"]


def test_a_delta_log_that_lacks_a_commit_or_cannot_be_read_is_refused(tmp_path):
    visits = table(tmp_path)
    log = visits / DELTA_LOG
    shutil.copy(log / f"{2:020d}.json", log / f"{4:020d}.json")
    with pytest.raises(ContractError, match="lacks version 3"):
        delta_files(visits)
    (log / f"{4:020d}.json").unlink()
    (log / f"{2:020d}.json").write_text('{"add": {"path"')
    with pytest.raises(ContractError, match="cannot be read"):
        delta_files(visits)


@pytest.mark.parametrize("checkpoint", [b"", b"PAR1" + b"x" * 200 + b"\x10\0\0\0PAR1"])
def test_a_checkpoint_that_is_damaged_is_refused(tmp_path, checkpoint):
    visits = table(tmp_path)
    (visits / DELTA_LOG / f"{2:020d}.checkpoint.parquet").write_bytes(checkpoint)
    with pytest.raises(ContractError, match="cannot be read"):
        counted(tmp_path, "parquet")


def test_a_line_of_a_delta_log_ends_at_a_line_feed_alone(tmp_path):
    visits = table(tmp_path)
    said = {"commitInfo": {"userMetadata": "a\u2028b\u0085c"}}
    text = json.dumps(said, ensure_ascii=False) + "\r\n" + json.dumps(remove("2.parquet")) + "\n"
    (visits / DELTA_LOG / f"{3:020d}.json").write_bytes(text.encode())
    assert names(visits) == ["1 é.parquet"]


def test_a_file_of_a_delta_table_is_one_file_however_its_path_is_written(tmp_path):
    visits = table(tmp_path)
    commit(visits, 3, add("./1%20%C3%A9.parquet"))
    assert names(visits) == ["1 é.parquet", "2.parquet"]
    commit(visits, 4, remove("1 é.parquet"))
    assert names(visits) == ["2.parquet"]
    commit(visits, 5, add("s3://bucket/0.parquet"))
    commit(visits, 6, remove("s3://bucket/0.parquet"))
    assert names(visits) == ["2.parquet"]


def test_a_meds_table_that_is_a_delta_table_is_its_latest_version(tmp_path):
    data = tmp_path / "data"
    for shard in ("0.parquet", "1.parquet"):
        (data / "train").mkdir(parents=True, exist_ok=True)
        rows(data / "train", shard, a=1)
    commit(data, 0, PROTOCOL, ABOUT, add("train/0.parquet"))
    commit(data, 1, remove("train/0.parquet"), add("train/1.parquet"))
    ((found,),) = latest_versions(table_files(tmp_path, "data", kind=SourceKind.MEDS), folder=data)
    assert found == data / "train" / "1.parquet"


def test_a_folder_within_a_delta_table_is_refused(tmp_path):
    visits = table(tmp_path)
    rows(visits / "part", "0.parquet", a=3)
    with pytest.raises(ContractError, match="holds the folder 'part'"):
        latest_versions(((visits / "part" / "0.parquet",),), folder=visits / "part")
    with pytest.raises(ContractError, match="holds the folder"):
        latest_versions(((visits / "part" / "0.parquet",),), folder=tmp_path)


def test_a_delta_table_without_rows_has_no_file(tmp_path):
    visits = table(tmp_path)
    commit(visits, 3, remove("1%20%C3%A9.parquet"), remove("2.parquet"))
    assert names(visits) == []
    with pytest.raises(ContractError, match="no file"):
        counted(tmp_path, "parquet")

"""What Spark does not answer is refused before anything is charged, and before a driver starts."""

import pytest

from confide.errors import UnsupportedError
from confide.rows.engines.spark.spark_engine import SparkEngine, open_spark
from confide.rows.sources.fingerprint import SourceState
from networks import KEY, asked, network
from spark_rows import SPARK


def test_contacts_models_in_rounds_jobs_and_withdrawn_consent_are_refused_before_a_charge(tmp_path):
    of = network()
    engine = SparkEngine(None, dataset=of, layout=None, state=SourceState(), hash_key=KEY)
    with pytest.raises(UnsupportedError, match="no contacts and no models in rounds"):
        engine.check((asked(3),), dataset=of)
    for ask in (engine.check_records, engine.records):
        with pytest.raises(UnsupportedError, match="no rows for a job"):
            ask(None, dataset=of)
    with pytest.raises(UnsupportedError, match="nobody out who withdrew consent") as refused:
        open_spark(SPARK, base=tmp_path, dataset=of, hash_key=KEY, withdrawn=["0" * 32])
    assert "kind: parquet" in refused.value.hint

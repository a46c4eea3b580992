"""PipelineDP on Spark: a histogram and a mean of five events a patient, and nothing else.

Its start, its context and both answers are the whole life of this process.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

FILE = str(Path(sys.argv[1]).resolve())
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.chdir(tempfile.mkdtemp())

import pipeline_dp
from pyspark.sql import SparkSession

SPARK = (
    SparkSession.builder.master("local[2]")
    .config("spark.default.parallelism", "2")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "2g")
    .getOrCreate()
)
SPARK.sparkContext.setLogLevel("OFF")
ROWS = SPARK.read.parquet(FILE).rdd.map(tuple)
METRICS = pipeline_dp.Metrics


def asked(metric, place, keys, **bounds):
    """Return each partition's answer at ε = 1, by its key."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    backend = pipeline_dp.SparkRDDBackend(SPARK.sparkContext)
    found = pipeline_dp.DPEngine(accountant, backend).aggregate(
        ROWS,
        pipeline_dp.AggregateParams(
            metrics=[metric],
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            min_value=0,
            max_value=300,
            **bounds,
        ),
        pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=place,
            value_extractor=lambda row: row[2],
        ),
        public_partitions=keys,
    )
    accountant.compute_budgets()
    return dict(found.collect())


COUNTS = asked(
    METRICS.COUNT,
    lambda row: row[1],
    list(range(20)),
    max_partitions_contributed=5,
    max_contributions_per_partition=1,
)
MEAN = asked(
    METRICS.MEAN,
    lambda _: 0,
    [0],
    max_partitions_contributed=1,
    max_contributions_per_partition=5,
)
print(json.dumps({"histogram": [COUNTS[code].count for code in range(20)], "mean": MEAN[0].mean}))

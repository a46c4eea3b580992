"""Tumult Analytics on Spark: a histogram and a mean of five events a patient, and nothing else.

Its start, its session and both answers are the whole life of this process.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

FILE = str(Path(sys.argv[1]).resolve())
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
os.chdir(tempfile.mkdtemp())

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

SPARK = (
    SparkSession.builder.master("local[2]")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "2g")
    .getOrCreate()
)
SPARK.sparkContext.setLogLevel("OFF")
SESSION = Session.from_dataframe(
    PureDPBudget(2), "events", SPARK.read.parquet(FILE), protected_change=AddRowsWithID("pid")
)
KEPT = QueryBuilder("events").enforce(MaxRowsPerID(5))
CODES = KeySet.from_dict({"code": list(range(20))})
COUNTS = SESSION.evaluate(KEPT.groupby(CODES).count(), PureDPBudget(1)).collect()
(MEAN,) = SESSION.evaluate(KEPT.average("value", 0, 300), PureDPBudget(1)).collect()
counts = {row["code"]: row["count"] for row in COUNTS}
print(json.dumps({"histogram": [counts[code] for code in range(20)], "mean": MEAN[0]}))

"""The tables that the page on Spark makes up; its commands run in test_spark_secrets.py."""

import subprocess
import sys
from pathlib import Path

from command_line import confide
from pages import DOCS, blocks

PAGE = DOCS / "tutorials" / "spark.md"


def test_the_tables_of_the_page_on_spark_are_read_as_it_declares_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE):
        if block.title:
            text = block.text.replace("kind: spark", "kind: parquet")
            Path(block.title).write_text(text, "utf-8")
    subprocess.run([sys.executable, "visits.py"], check=True)
    looked = confide("check")
    assert looked.code == 0, looked.out + looked.err
    assert "of 300 patients" in looked.out
    asked = confide("plan", "study.yaml", "--why", "--json")
    assert asked.code == 0, asked.out + asked.err

"""Write data/tracts.csv and data/cases.csv from NY8_bna_utm18.gpkg of spData.

The file holds the number of cases of each tract, not the cases, and fractions of those whose place
is not known exactly.  Each tract gets as many rows as its rounded number.
"""

import csv
import sqlite3
from pathlib import Path

COUNTIES = {"007": "Broome", "011": "Cayuga", "017": "Chenango", "023": "Cortland",
            "053": "Madison", "067": "Onondaga", "107": "Tioga", "109": "Tompkins"}  # fmt: skip

folder = Path(__file__).parent / "data"
with sqlite3.connect(folder / "NY8_bna_utm18.gpkg") as file:
    tracts = file.execute(
        "SELECT AREAKEY, POP8, TRACTCAS FROM sf_bna2_utm18 ORDER BY AREAKEY"
    ).fetchall()
with (folder / "tracts.csv").open("w", newline="", encoding="utf-8") as out:
    rows = csv.writer(out)
    rows.writerow(["tract", "county", "people"])
    rows.writerows([key, COUNTIES[key[2:5]], int(people)] for key, people, _ in tracts)
with (folder / "cases.csv").open("w", newline="", encoding="utf-8") as out:
    rows = csv.writer(out)
    rows.writerow(["case_id", "tract"])
    places = [key for key, _, cases in tracts for _ in range(round(cases))]
    rows.writerows(enumerate(places, start=1))

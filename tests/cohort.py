"""A made-up cohort that the code in the documentation runs on."""

import csv
import random
from pathlib import Path

PATIENTS = 2000
CODES = ("I10", "E11", "J45", "F32", "K21", "M54", "N39", "R07")
CITIES = ("Ashford", "Birch Hill", "Carrick", "Dunmore", "Eastwick")


def write_cohort(folder: Path) -> None:
    """Write participants.csv and visits.csv."""
    chance = random.Random(2026)
    people, visits = [], []
    for person in range(1, PATIENTS + 1):
        age = chance.randint(18, 95)
        diabetes = chance.random() < age / 400
        people.append(
            {
                "person_id": person,
                "sex": chance.choice(["female", "male"]),
                "age": age,
                "systolic": round(chance.gauss(118 + age / 4, 14), 0),
                "diabetes": "yes" if diabetes else "no",
                "city": chance.choices(CITIES, weights=(60, 25, 10, 5, 1))[0],
            }
        )
        for _ in range(chance.choice([0, 1, 1, 2, 3, 7])):
            visits.append(
                {
                    "person_id": person,
                    "day": f"2025-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}",
                    "code": chance.choice(CODES),
                    "cost": chance.randint(20, 900),
                }
            )
    for name, rows in (("participants", people), ("visits", visits)):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

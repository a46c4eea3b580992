"""The smallest job: a noisy number of rows of each sex, for tests of what every job passes."""

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from confide.jobs.kind import JobKind
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.events import JobEvent
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.records import Records
from confide.tables.relation import Relation

SEX = ColumnOf(table="people", column="sex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """Counts rows by sex, with Laplace noise, or Gaussian."""

    kind: ClassVar[str] = "counting"

    scale: Fraction = Fraction(2)
    gaussian: bool = False
    rows: int = 1
    breaks: str = ""

    @property
    def reads(self):
        return Records(
            relation=Relation(table="people"), reads=(SEX,), bounds=RowBound(max_rows=self.rows)
        )

    def noise(self):
        if self.gaussian:
            return DiscreteGaussian(sigma_squared=self.scale**2)
        return DiscreteLaplace(scale=self.scale)

    def events(self, dataset):  # noqa: ARG002
        return (
            JobEvent(
                name="rows by sex",
                noise=self.noise(),
                l1=self.rows,
                l2_squared=self.rows**2,
                count=1,
                because="a patient keeps so many rows",
            ),
        )

    def run(self, rows, *, plan, entropy, progress):  # noqa: ARG002
        if self.breaks:
            raise RuntimeError(self.breaks)
        sexes = rows.reveal_to_job()["e0"]
        counts = np.bincount(sexes, minlength=2).astype(np.int64)
        progress("noise")
        noisy = self.noise().randomize(counts, entropy=entropy)
        return {"counts.json": json.dumps(noisy.tolist()).encode()}


KIND = JobKind(spec=Counting, runner="counting_job:Counting")


def clinic(tmp_path, *, people=40, measure="pure", delta="0", lifetime="2", rows=1):
    """Return a workspace over ``people`` patients, every third of them female."""
    import pyarrow as pa

    from confide.workspace import open_workspace

    frame = pa.table(
        {
            "patient": [str(i) for i in range(people) for _ in range(rows)],
            "sex": ["F" if i % 3 == 0 else "M" for i in range(people) for _ in range(rows)],
        }
    )
    dataset = {
        "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": measure, "delta": delta},
        "caps": {"lifetime": {"epsilon": lifetime}},
        "tables": {"people": {"columns": {"sex": {"categories": ["F", "M"]}}}},
    }
    return open_workspace(dataset, frames={"people": frame}, folder=tmp_path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreeParts(Counting):
    """Counts three times; each part appends to the counts before it."""

    kind: ClassVar[str] = "counting-thrice"

    breaks: str = ""

    @property
    def parts(self):
        return 3

    def events(self, dataset):
        from dataclasses import replace

        return tuple(replace(each, count=3) for each in super(ThreeParts, self).events(dataset))

    def opened(self):
        return {"counts.json": b"[]"}

    def advanced(self, rows, *, part, before, entropy, progress):
        progress("working")
        earlier = json.loads(before["counts.json"])
        assert len(earlier) == part - 1
        if self.breaks and part == 2:
            raise RuntimeError(self.breaks)
        whole = Counting(scale=self.scale)
        made = whole.run(rows, plan=None, entropy=entropy, progress=progress)
        return {
            "counts.json": json.dumps([*earlier, *json.loads(made["counts.json"])[:1]]).encode()
        }

"""L1 of a synthesis: with the noise off, how far one patient moves what each part makes.

Parts are compared given the same released file before them, since that is what the charge of a
part is for.
"""

import json
from collections import defaultdict
from fractions import Fraction

import numpy as np

from confide.jobs.synthesis.adaptive import _scores as _adaptive_scores
from confide.jobs.synthesis.counts import renamed
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.measuring import Measuring
from confide.plans.job import plan_job
from confide.plans.plan import Study
from seeded import SeededEntropy
from synthesis_world import dataset, job, quiet, records

SHAPE, SCORE, LEAD = "shape", "score", "lead"
TABLES = ("bins", "one_ways", "with_target", "tables")


def farthest(measuring=Measuring, *, most=1, target="", tries=60, **given):
    """Return the most that one patient of up to ``most`` rows moves each thing.

    By name: (L1, L2²) of a table of a part; of scores and of their leads the distance twice; of
    shapes, whether two ever differed, which ends the search.
    """
    spec, of = quiet(job(target=target, most=most, **given)), dataset()
    plan = plan_job(spec, study=Study(id="s"), dataset=of)
    runner, rng, sizes = measuring(spec, plan=plan), np.random.default_rng(7), spec.sizes(of)
    found = defaultdict(lambda: (0, 0))

    def saw(name, l1, l2):
        found[name] = (max(found[name][0], l1), max(found[name][1], l2))

    for _ in range(tries):
        many = int(rng.integers(1, 40))
        some = np.column_stack([np.arange(many), *(rng.integers(0, s, many) for s in sizes)])
        extra = np.array([[many, *(rng.integers(0, s) for s in sizes)]] * most)
        if rng.random() < 0.5 and most > 1:
            extra[:, 1:] = [[rng.integers(0, s) for s in sizes] for _ in range(most)]
        pair = [records(spec, each) for each in (some, np.vstack([some, extra]))]
        before = runner.opened()
        for part in range(1, runner.parts + 1):
            files = [
                runner.advanced(
                    rows,
                    part=part,
                    before=before,
                    entropy=SeededEntropy(part),
                    progress=lambda _: None,
                )
                for rows in pair
            ]
            one, other = (tables_of(each[MEASURED]) for each in files)
            for name in TABLES:
                if [t.shape for t in one[name]] != [t.shape for t in other[name]]:
                    return dict(found) | {SHAPE: (1, 1)}
                if before_has(before, name):
                    continue
                for a, b in zip(one[name], other[name], strict=True):
                    saw(name, int(np.abs(a - b).sum()), int(((a - b) ** 2).sum()))
            if part == runner.parts - 1:
                _scores(runner, pair, spec=spec, before=before, saw=saw)
            before = files[0]
    return dict(found)


def before_has(before, name):
    return bool(tables_of(before[MEASURED])[name])


def tables_of(content):
    """Return the counts of a file by part, in whatever shape it says."""
    body = json.loads(content)
    return {
        "bins": [np.array(each) for each in body.get("bins", [])],
        "one_ways": [np.array(each) for each in body["one_ways"]],
        "with_target": [np.array(each["counts"]) for each in body["with_target"]],
        "tables": [np.array(each["counts"]) for each in body["tables"]],
    }


def _scores(runner, pair, *, spec, before, saw):
    known = read_measured(before[MEASURED], spec=spec, adjacency=dataset().adjacency)
    if spec.place_of_target is not None:
        return  # scores of triples are searched in test_synthesis_scores.py
    codes = [runner._coarse(runner._codes(rows), known) for rows in pair]
    one, other = (runner._scores(renamed(each, known.merging), known) for each in codes)
    change = [other[name] - one[name] for name in one]
    saw(SCORE, max(map(abs, change)), max(map(abs, change)))
    saw(LEAD, max(change) - min(change), max(change) - min(change))


def holds(found, *, most):
    """Return whether nothing moves farther than the job states."""
    tables = [found[name] for name in TABLES if name in found]
    return (
        SHAPE not in found
        and all(l1 <= most and l2 <= most**2 for l1, l2 in tables)
        and found.get(SCORE, (0, 0))[0] <= most
        and found.get(LEAD, (0, 0))[0] <= 2 * most
    )


def chosen_often(measuring=Measuring, *, seeds=12, **given):
    """Return how many different trees are chosen where the budget tells nothing."""
    spec = job(rho=Fraction(1, 10**4), rows=10**6, **given)
    of = dataset()
    plan = plan_job(spec, study=Study(id="s"), dataset=of)
    runner = measuring(spec, plan=plan)
    rng = np.random.default_rng(3)
    some = np.column_stack([np.arange(60), *(rng.integers(0, s, 60) for s in spec.sizes(of))])
    found = set()
    for seed in range(seeds):
        before = runner.opened()
        for part in (1, 2):
            before = runner.advanced(
                records(spec, some),
                part=part,
                before=before,
                entropy=SeededEntropy(10 * seed + part if part == 2 else 1),
                progress=lambda _: None,
            )
        known = read_measured(before[MEASURED], spec=spec, adjacency=of.adjacency)
        found.add(known.chosen)
    return len(found)


def files_of_bins(measuring=Measuring, *, seeds=12):
    """Return how many different counts of cells come of the same rows."""
    spec, of = job(found=5), dataset()
    runner = measuring(spec, plan=plan_job(spec, study=Study(id="s"), dataset=of))
    rng = np.random.default_rng(3)
    some = np.column_stack([np.arange(60), *(rng.integers(0, s, 60) for s in spec.sizes(of))])
    return len(
        {
            runner.advanced(
                records(spec, some),
                part=1,
                before=runner.opened(),
                entropy=SeededEntropy(seed),
                progress=lambda _: None,
            )[MEASURED]
            for seed in range(seeds)
        }
    )


def farthest_in_rounds(scores=_adaptive_scores, *, most=1, tries=15):
    """Return the most that one patient moves the scores of a round, and their leads."""
    spec, of = quiet(job(most=most, adaptive=3)), dataset()
    runner, rng = Measuring(spec, plan=plan_job(spec, study=Study(id="s"), dataset=of)), _rng()
    found = {SCORE: 0, LEAD: 0}
    for turn in range(tries):
        many = int(rng.integers(20, 60))
        some = np.column_stack(
            [np.arange(many), *(rng.integers(0, s, many) for s in spec.sizes(of))]
        )
        extra = np.array([[many, *(rng.integers(0, s) for s in spec.sizes(of))]] * most)
        pair = [records(spec, each) for each in (some, np.vstack([some, extra]))]
        files = runner.opened()
        for part in range(1, 1 + 1 + turn % 2):  # before any round, and after all of them
            files = runner.advanced(
                pair[0],
                part=part,
                before=files,
                entropy=SeededEntropy(part),
                progress=lambda _: None,
            )
        known = read_measured(files[MEASURED], spec=spec, adjacency=of.adjacency)
        among = [(0, 1), (0, 2), (1, 2), (2, 4), (3, 4)]
        one, other = (
            scores(
                renamed(runner._codes(rows), known.merging),
                known,
                pairs=among,
                impossible=(),
                noise=known.noise_of_tables,
            )
            for rows in pair
        )
        change = [other[name] - one[name] for name in among]
        found[SCORE] = max(found[SCORE], *map(abs, change))
        found[LEAD] = max(found[LEAD], max(change) - min(change))
    return found


def _rng():
    return np.random.default_rng(7)

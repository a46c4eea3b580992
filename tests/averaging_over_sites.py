"""Federated averaging over made-up practices: what honest ones send, and a plain one beside it."""

import copy
from fractions import Fraction

import numpy as np

from confide.jobs.learning.dp_sgd import REACH
from modules_over_sites import ModuleSites, hidden, overheard, patients_of

WEIGHTS, ROUNDS = 26, 3
BY_SITE = {"local_steps": 4, "local_rate": "0.5"}


def practices(root, *, counts, **given):
    """A federation that averages updates, with so large an ε that few sites may."""
    usual = {"epochs": ROUNDS, "epsilon": "60", "lifetime": "90", "clip": "0.5"}
    usual |= {"optimizer": "sgd", "learning_rate": "1", "module": hidden, "by_site": BY_SITE}
    return ModuleSites(root, counts=counts, **usual | given)


def planned(member):
    """What a member planned: spec, plan and runner."""
    features = member._declared(None)
    with member._open(features) as ws:
        return member._planned(ws, features)[1]


def whole_numbers(sites):
    """Let all rows be whole numbers, which no step of a column rounds."""
    sites.rows = [(np.trunc(table), y, ids) for table, y, ids in sites.rows]


def inputs_of(table):
    """Rows as a module sees them: bounds to [−1, 1], the second category as an indicator."""
    age, other, sex = table.T
    return np.column_stack([(2 * age - 100) / 100, 2 * other / 8, sex])


def plainly_averaged(module, tables, *, clip, rounds=ROUNDS, local_steps=4, local_rate=0.5):
    """FedAvg as papers write it, by PyTorch's own autograd and optimizers, of whole updates.

    Returns the sums of all rounds, and the mean of the weights of the second half.
    """
    import torch

    server = copy.deepcopy(module).double()
    flat = torch.nn.utils.parameters_to_vector(server.parameters()).detach().clone()
    sums, after = [], []
    for _ in range(rounds):
        total = np.zeros(flat.numel())
        for inputs, y in tables:
            own = copy.deepcopy(server)
            torch.nn.utils.vector_to_parameters(flat.clone(), own.parameters())
            steps = torch.optim.SGD(own.parameters(), lr=local_rate)
            for _ in range(local_steps):
                steps.zero_grad()
                loss = torch.nn.functional.binary_cross_entropy_with_logits(
                    own(torch.from_numpy(inputs))[:, 0], torch.from_numpy(y).double()
                )
                loss.backward()
                steps.step()
            ended = torch.nn.utils.parameters_to_vector(own.parameters()).detach()
            update = (flat - ended).numpy()
            total += np.trunc(update * min(1.0, clip / np.linalg.norm(update)) * REACH / clip)
        sums.append(total.astype(np.int64))
        flat = flat - torch.from_numpy(total * (clip / (REACH * len(tables))))
        after.append(flat.numpy())
    return np.array(sums), np.mean(after[rounds // 2 :], axis=0)


def lost_by_honest_parts(member):
    """ρ of a plan, and what all rounds lose of a patient of k sites who turns updates round."""
    made = planned(member)
    spec, held = made.spec, made.spec.federation.tolerance
    honest = held.sites - held.drops - held.colluders
    far = 2 * spec.federation.sites_per_person * REACH
    each = Fraction(far**2) / (2 * honest * spec.shared.part.sigma_squared_each)
    return Fraction(made.plan.nano, 10**9), len(spec.sums(made.plan).lengths) * each


def turned(rows):
    """The same site where every patient had the other outcome."""
    table, y, ids = rows
    return table, 1 - y, ids


def check_that_no_site_moves_a_sum_by_more_than_twice_the_clip(sites, *, drawn=7):
    """Whatever the coordinator tells and whatever the rows are; with the noise off."""
    rng, furthest = np.random.default_rng(drawn), 0.0
    mild = [tuple(rng.integers(-(10**5), 10**5, WEIGHTS).tolist()) for _ in range(ROUNDS)]
    steep = [tuple(rng.integers(-(10**13), 10**13, WEIGHTS).tolist()) for _ in range(ROUNDS)]
    for clip, told in (("0.001", mild), ("0.5", mild), ("0.5", steep)):
        member = sites.member("site-0", clip=clip)
        rows = patients_of(5, count=30)
        one = overheard(member, rows, answers=told)[0]
        assert np.sqrt((one.astype(float) ** 2).sum(axis=1)).max() <= REACH
        nobody = tuple(part[:0] for part in rows)
        for other in (turned(rows), patients_of(6, count=2), nobody):
            moved = (one - overheard(member, other, answers=told)[0]).astype(float)
            norms = np.sqrt((moved**2).sum(axis=1))
            assert norms.max() <= 2 * REACH
            furthest = max(furthest, norms.max())
    return furthest


def check_that_the_plan_states_how_far_one_patient_moves_a_round(sites):
    """One patient more, with the other outcome, turns the update of a site of one round."""
    member, furthest = sites.member("site-0", clip="0.0001"), 0.0
    table, _, ids = patients_of(5, count=2)
    table[1] = table[0]
    for first in (0, 1):
        both = (table, np.array([first, 1 - first]), ids)
        alone = overheard(member, tuple(part[:1] for part in both))[0][0]
        moved = (overheard(member, both)[0][0] - alone).astype(float)
        furthest = max(furthest, float(np.sqrt((moved**2).sum())))
    (event,) = planned(member).plan.events
    assert 1.9 * REACH < furthest <= event.l2_squared**0.5, furthest / REACH


def check_that_every_round_is_noised(sites):
    """A site without patients sends its parts of the noise alone."""
    member = sites.member("site-0")
    rows = tuple(part[:0] for part in sites.rows[0])
    told = [(0,) * WEIGHTS] * ROUNDS
    sent = np.array([overheard(member, rows, answers=told)[0] for _ in range(6)], dtype=float)
    sigma = planned(member).spec.shared.part.sigma_squared_each
    ratio = (sent**2).mean(axis=(0, 2)) / float(sigma)
    assert (np.abs(ratio - 1) < 6 * np.sqrt(2 / (6 * WEIGHTS))).all(), ratio

"""Single parts of figures and tables of policies at their edges."""

import datetime as dt
from dataclasses import replace

from confide.budget.policy.simulate import Played, Run, Simulation
from confide.budget.policy.solve import solve
from confide.drawing.charts.style import WIDTH, room_for
from confide.report.policy.policy_chart import chart
from confide.report.policy.policy_play import play_parts
from policies import ANNUAL, textbook


def widths(policy, *, words):
    above, below = chart(solve(policy), words=words).to_dict()["vconcat"]
    return above["width"], below["width"]


def test_long_names_leave_the_bars_of_a_policy_less_room_and_short_ones_all(words):
    policy = textbook(caps=(ANNUAL,))
    assert widths(policy, words=words)[0] == WIDTH
    first, *others = policy.releases
    named = replace(first, id="x" * 60)
    long = replace(policy, releases=(named, *others))
    room = room_for([each.id for each in long.releases])
    assert room > WIDTH // 3
    assert widths(long, words=words)[0] == WIDTH - (room - WIDTH // 3)


def test_a_cap_that_a_run_fills_holds_nothing_more(words):
    policy = textbook(caps=(ANNUAL,))
    run = Run(day=dt.date(2027, 3, 31), release=policy.releases[0], units=1_000)
    played = Played(run=run, refused_by=(), left=0, tightest=ANNUAL.id, left_out=())
    year = Simulation(played=(played,), uses=(), any_year={}, one_analyst={})
    grids = [
        part.grid
        for part in play_parts(year, policy=policy, feasible=True, words=words)
        if part.grid is not None
    ]
    ((*_, left),) = grids[0].rows
    assert left == words.say("policy.play.tightest", left="0", cap=ANNUAL.id)

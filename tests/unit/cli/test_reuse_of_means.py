"""What ``run --reuse`` says of paid answers that it does not average in."""

from command_line import confide
from small_clinic import make_clinic

STUDY = """\
study: {{id: {id}}}
statistics:
  - {{id: age, kind: mean, table: patients, column: age}}
spend: {{at-most: {{epsilon: {epsilon}}}}}
"""


def test_reuse_says_which_paid_answers_of_a_mean_are_not_averaged_in(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    for name, epsilon in (("less", "0.4"), ("more", "0.8")):
        clinic.study.write_text(STUDY.format(id=name, epsilon=epsilon))
        assert confide("run", clinic.study, "--out", tmp_path / name).code == 0
    clinic.study.write_text(STUDY.format(id="third", epsilon="0.5"))
    entries = confide("ledger", "show", clinic.dataset, "--json").json["entries"]
    less, more = (
        next(e["number"] for e in entries if e["study"] == name) for name in ("less", "more")
    )
    done = confide("run", clinic.study, "--out", tmp_path / "free", "--reuse")
    assert done.code == 0
    assert f"made of ledger entries {more}" in done.out
    assert f"age: entries {less} measured it as well." in " ".join(done.out.split())
    again = confide("run", clinic.study, "--out", tmp_path / "free", "--reuse", "--json").json
    assert again["unread"] == {"age": [less]}

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
    planned = " ".join(confide("plan", clinic.study).out.split())
    assert f"age: entries {less} measured it as well." in planned
    again = confide("run", clinic.study, "--out", tmp_path / "free", "--reuse", "--json").json
    assert again["unread"] == {"age": [less]}


GROUPS = """\
study: {{id: {id}}}
statistics:
  - {{id: age, kind: {kind}, table: patients, column: age{more}}}
spend: {{at-most: {{epsilon: 0.4}}}}
"""


def test_reuse_says_which_means_in_other_groups_or_rows_are_not_read(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    numbers = {}
    for name, more in (("all", ""), ("each", ", by: [sex]")):
        clinic.study.write_text(GROUPS.format(id=name, kind="mean", more=more))
        done = confide("run", clinic.study, "--out", tmp_path / name, "--json")
        numbers[name] = int(done.json["id"].rpartition("/")[2])
    clinic.study.write_text(GROUPS.format(id="again", kind="mean", more=""))
    remark = f"age: entries {numbers['each']} measured its value in other groups, rows or bounds."
    done = confide("run", clinic.study, "--out", tmp_path / "free", "--reuse")
    assert remark in " ".join(done.out.split())
    assert remark in " ".join(confide("plan", clinic.study).out.split())
    asked = (("mean", ", where: {sex: [male]}"), ("sum", ", by: [diabetes]"), ("variance", ""))
    for kind, more in asked:
        clinic.study.write_text(GROUPS.format(id=f"of-{kind}", kind=kind, more=more))
        refused = confide("run", clinic.study, "--out", tmp_path / kind, "--reuse")
        assert refused.code != 0
        told = " ".join(refused.err.split())
        assert f"of 'age' of entry {numbers['each']}, " in told
        assert "nothing published measured it" not in told

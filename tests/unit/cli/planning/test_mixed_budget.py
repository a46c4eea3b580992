"""A mixed ledger at the command line: which noise and why, what is left in which lane, and refusals."""

import re
from fractions import Fraction

import pytest

from command_line import confide
from confide.privacy.accounting.mixed import MixedCap, charge
from mixed_ledgers import gaussian, pure
from small_clinic import DATASET, make_clinic

MIXED = DATASET.replace("measure: zcdp, delta: 1e-6", "measure: mixed, delta: 1e-6")
SPEND = "spend: {at-most: {epsilon: 1}}\n"


def study(name, counts):
    rows = "".join(
        f"  - {{id: n{place}, kind: count, table: patients}}\n" for place in range(counts)
    )
    return f"study: {{id: {name}}}\nstatistics:\n{rows}{SPEND}"


def text(ran):
    return " ".join((ran.out + ran.err).split())


def test_plan_says_which_noise_was_chosen_and_what_the_other_would_give(tmp_path):
    clinic = make_clinic(tmp_path / "clinic", dataset=MIXED)
    clinic.study.write_text(study("one", 1))
    said = text(confide("plan", clinic.study))
    assert "Laplace noise: with Gaussian noise, errors would be 3 times as large; and 7" in said
    assert "would fit into a year instead of 3." in said
    clinic.study.write_text(study("many", 20))
    road = confide("plan", clinic.study, "--json").json["road"]
    assert (road["noise"], road["fits"]) == ("Gaussian", 7)
    clinic.dataset.write_text(MIXED.replace("1e-6}", "1e-6, releases-a-year: 5}"))
    clinic.study.write_text(study("one", 1))
    said = text(confide("plan", clinic.study))
    assert "Gaussian noise: with Laplace noise, errors would be 0.33 times as large; and 3" in said
    assert "Chosen so that 5 fit, as dataset.yaml says, if that can be." in said


def test_a_ledger_of_one_measure_says_nothing_of_another_noise(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    assert "road" not in confide("plan", clinic.study, "--json").json


def test_what_is_left_stands_in_the_lane_that_has_room_with_the_epsilon_of_its_cap(tmp_path):
    clinic = make_clinic(tmp_path / "clinic", dataset=MIXED)
    for name, counts in (("one", 1), ("many", 20)):
        clinic.study.write_text(study(name, counts))
        assert confide("run", clinic.study, "--out", tmp_path / name, "--quiet").code == 0
        assert confide("verify", tmp_path / name).code == 0
    one, many = ((tmp_path / name / "methods.md").read_text() for name in ("one", "many"))
    assert "Here it is Laplace noise." in one
    assert "1 of a lifetime cap of 10 (ε)." in one
    assert "Here it is Gaussian noise." in many
    assert "(ε(4)), which is what a lifetime cap of ε = 10 allows." in many
    caps = {
        each["cap"]: each
        for each in confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    }
    year, lifetime = (next(c for name, c in caps.items() if w in name) for w in ("year", "life"))
    assert (year["letter"], lifetime["letter"]) == ("ε(9)", "ε(4)")
    assert "ε 3" in year["cap"]
    assert "ε 10" in lifetime["cap"]
    amounts = [
        each["amount"]
        for each in confide("ledger", "show", clinic.dataset, "--json").json["entries"]
    ]
    assert amounts[0] == "ε=1"
    assert amounts[1].startswith("ρ=0.02")


def test_a_refusal_by_a_cap_whose_pure_lane_is_closed_says_why_and_how_much_is_left(tmp_path):
    small = MIXED.replace("calendar-year: {epsilon: 3}", "calendar-year: {epsilon: 1}")
    clinic = make_clinic(tmp_path / "clinic", dataset=small)
    clinic.study.write_text(study("first", 20))
    assert confide("run", clinic.study, "--out", tmp_path / "first", "--quiet").code == 0
    clinic.study.write_text(study("more", 20))
    assert confide("plan", clinic.study).code == 5
    refused = confide("run", clinic.study, "--out", tmp_path / "more")
    assert refused.code == 5
    said = text(refused)
    assert "Requested ε(23)=" in said
    assert "Losses that are not pure, or pass this cap of ε=1, count at order 23." in said
    assert "which is ρ=" in said


def test_caps_that_are_amended_leave_an_open_ledger_in_its_orders(tmp_path):
    clinic = make_clinic(tmp_path / "clinic", dataset=MIXED)
    clinic.study.write_text(study("many", 20))
    assert confide("run", clinic.study, "--out", tmp_path / "a", "--quiet").code == 0
    clinic.dataset.write_text(
        MIXED.replace("calendar-year: {epsilon: 3}", "calendar-year: {epsilon: 6}")
    )
    told = confide("ledger", "amend-caps", clinic.dataset, "--reason", "a larger board")
    assert told.code == 0, told.err
    caps = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    assert next(each["letter"] for each in caps if "year" in each["cap"]) == "ε(9)"
    clinic.study.write_text(study("next", 20))
    assert confide("run", clinic.study, "--out", tmp_path / "b", "--quiet").code == 0
    assert confide("verify", tmp_path / "b", "--ledger", clinic.dataset).code == 0


def test_a_document_of_a_year_states_its_loss_at_the_delta_of_the_caps(tmp_path):
    clinic = make_clinic(tmp_path / "clinic", dataset=MIXED)
    legal = clinic.folder / "legal.yaml"
    assert confide("document", "start", "--out", legal).code == 0
    told = []
    for name, counts in (("one", 1), ("many", 20)):
        clinic.study.write_text(study(name, counts))
        assert confide("run", clinic.study, "--out", tmp_path / name, "--quiet").code == 0
        out = tmp_path / f"legal-{name}"
        year = confide("ledger", "show", clinic.dataset, "--json").json["entries"][0]["at"][:4]
        words = ("document", "dpia", clinic.dataset, "--year", year, "--legal", legal)
        assert confide(*words, "--out", out, "--quiet").code == 0
        page = (out / "dpia.en.md").read_text()
        told.append(next(row for row in page.splitlines() if row.startswith("- Privacy loss: ")))
    assert "ε = 1 at δ" in told[0]  # all of it pure
    # order 9: 0.9609 of the pure release, 9ρ of the other, and ln(κ/δ)/8
    year = float(told[1].split("ε = ")[1].split(" ")[0])
    cap = MixedCap.of(Fraction(3), delta=Fraction("5e-7"))
    both = (*pure("1"), *gaussian("0.0234"))
    spent = sum(charge(each.use.loss, order=cap.order).ordered for each in both)
    assert year == pytest.approx(3 - (cap.budget - spent) / 1e9, abs=0.02)


def sharp_beside_rough(name, *, sharp=(6,), rough=60):
    rows = "".join(
        f"  - {{id: n{place}, kind: count, table: patients, error: {{within: {within}}}}}\n"
        for place, within in enumerate([*sharp, *[rough] * (20 - len(sharp))])
    )
    return f"study: {{id: {name}}}\nstatistics:\n{rows}"


def test_a_sharp_number_beside_rough_ones_is_released_with_a_noise_of_its_own(tmp_path):
    dataset = MIXED.replace("release: {epsilon: 1}, ", "")
    clinic = make_clinic(tmp_path / "clinic", dataset=dataset)
    clinic.study.write_text(sharp_beside_rough("both"))
    said = text(confide("plan", clinic.study))
    assert "Laplace noise for 'n0' and Gaussian noise for the rest: with" in said
    planned = confide("plan", clinic.study, "--json").json
    assert planned["road"]["noise"] == "Laplace and Gaussian"
    assert sum(float(each["cost-share"]) for each in planned["measurements"]) == pytest.approx(
        1, abs=0.001
    )
    out = tmp_path / "out"
    assert confide("run", clinic.study, "--out", out, "--quiet").code == 0
    assert confide("verify", out).code == 0
    (entry,) = confide("ledger", "show", clinic.dataset, "--json").json["entries"]
    assert float(entry["epsilon"]) < 1.1
    methods = (out / "methods.md").read_text()
    assert "discrete Laplace noise of scale" in methods
    assert "discrete Gaussian noise of standard deviation" in methods
    assert "Here it is Laplace noise for some statistics and Gaussian noise for others." in methods
    again = confide("run", clinic.study, "--out", tmp_path / "again", "--quiet")
    assert again.code == 0
    assert len(confide("ledger", "show", clinic.dataset, "--json").json["entries"]) == 1


def test_a_document_of_both_noises_states_what_the_release_loses_by_itself(tmp_path):
    clinic = make_clinic(tmp_path / "clinic", dataset=MIXED)
    rows = "".join(
        f"  - {{id: n{place}, kind: count, table: patients{', share: 0.5' * (not place)}}}\n"
        for place in range(10)
    )
    clinic.study.write_text(f"study: {{id: shares}}\nstatistics:\n{rows}{SPEND}")
    planned = confide("plan", clinic.study, "--json").json["loss"]
    legal = clinic.folder / "legal.yaml"
    assert confide("document", "start", "--out", legal).code == 0
    words = ("document", "dpia", clinic.study, "--legal", legal, "--out", tmp_path / "legal")
    assert confide(*words, "--quiet").code == 0
    table = [row for row in (tmp_path / "legal/dpia.en.md").read_text().splitlines() if "|" in row]

    def epsilons(begins):
        row = next(each for each in table if each.startswith(f"| {begins} |") and "ε = " in each)
        return [float(each) for each in re.findall(r"ε = ([\d.]+)", row)]

    assert epsilons("Privacy loss")[0] == float(planned["epsilon"])
    assert epsilons("as planned") == [float(planned["epsilon"])]
    assert epsilons("half the ε") == [pytest.approx(float(planned["epsilon"]) / 2, abs=1e-3)]
    assert epsilons("neighbours by replacement")[0] <= 1
    (of_one,) = epsilons("Patients in patients (n0)")
    assert of_one < float(planned["epsilon"])
    posterior = re.search(r"at most ([\d.]+)\s% likely", planned["odds"][0])[1]
    (row,) = (each for each in table if re.match(r"\| a belief of 1\s% \|", each))
    assert row.split("|")[2].split() == [posterior, "%"]


def test_a_study_of_both_noises_keeps_them_when_caps_are_changed(tmp_path):
    """The order of a year is another without a cap on years, and with it whose noise is Laplace."""
    dataset = MIXED.replace("release: {epsilon: 1}, ", "")
    clinic = make_clinic(tmp_path / "clinic", dataset=dataset)
    clinic.study.write_text(sharp_beside_rough("both", sharp=(6, 14, 20)))
    digests = [confide("plan", clinic.study, "--json").json["digest"]]
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--quiet").code == 0
    for place, caps in enumerate(("", "calendar-year: {epsilon: 5}, ")):
        clinic.dataset.write_text(dataset.replace("calendar-year: {epsilon: 3}, ", caps))
        assert confide("ledger", "amend-caps", clinic.dataset, "--reason", "asked").code == 0
        planned = confide("plan", clinic.study, "--json").json
        digests.append(planned["digest"])
        assert confide("run", clinic.study, "--out", tmp_path / str(place), "--quiet").code == 0
    assert len(set(digests)) == 1
    assert "with which it was released" in planned["road"]["text"]
    assert len(confide("ledger", "show", clinic.dataset, "--json").json["entries"]) == 1


def test_what_a_release_of_both_noises_is_said_to_lose_is_within_what_may_be_spent(tmp_path):
    clinic = make_clinic(tmp_path / "clinic", dataset=MIXED)
    rows = "".join(
        f"  - {{id: n{place}, kind: count, table: patients{', share: 0.5' * (not place)}}}\n"
        for place in range(10)
    )
    clinic.study.write_text(f"study: {{id: shares}}\nstatistics:\n{rows}{SPEND}")
    planned = confide("plan", clinic.study, "--json").json
    assert planned["road"]["noise"] == "Laplace and Gaussian"
    assert float(planned["loss"]["epsilon"]) <= 1
    out = tmp_path / "out"
    assert confide("run", clinic.study, "--out", out, "--quiet").code == 0
    assert confide("verify", out).code == 0
    (entry,) = confide("ledger", "show", clinic.dataset, "--json").json["entries"]
    assert float(planned["loss"]["epsilon"]) <= float(entry["epsilon"]) <= 1
    methods = (out / "methods.md").read_text()
    told = [float(each) for each in re.findall(r"ε = ([\d.]+\d)", methods.replace("ε = 10", ""))]
    assert told == [float(planned["loss"]["epsilon"])] * len(told)
    assert "each cap is charged what each noise costs at the cap’s own order" in methods

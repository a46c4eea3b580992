"""Full certificates: their form, and that no line of one can be changed without being found."""

import copy
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from confide.errors import ContractError, UnsupportedError, VerificationError
from confide.jobs.kinds import read_spec
from confide.release.certificate import signed_words
from confide.release.certificate.form import CertificateForm
from confide.release.certificate.form_check import read_form, schema
from confide.release.certificate.in_words import in_words
from confide.release.certificate.parts import CertificatePart
from confide.release.jobs.job_form import JobForm
from confide.release.reused_form import ReusedForm
from confide.release.verify import verify as module
from confide.release.verify.against_chain import chain_checks, read_chain
from confide.release.verify.checks import signature_check
from confide.release.verify.verify import read_certificate, verify
from confide.statistics.registry import KINDS
from confide.workspace import open_study
from issued import again, edited, issue, leaves, signed
from small_clinic import make_clinic

GOLDEN = Path(__file__).parents[3] / "golden"

WORD_OF_ISSUER = ("issued", "issuer", "authority", "software")
WORD_OF_LEDGER = ("accounting",)
DECLARED = {("data", "commitment", "value"), ("data", "commitment", "scheme")}
"""What no reader of the published files can derive; the signature and the ledger cover it."""

STUDIES = {
    "plain": "",
    "house rule": "small-cells: opensafely\n",
    "published noise": "small-cells: {rule: acro, noisy: published}\n",
    "every kind of noise": """\
  - {id: wards, kind: histogram, table: visits, by: [ward], per-patient: {cells: 2},
     error: {within: 60}}
  - {id: notes, kind: key-selection, table: patients, key: note, share: "0.5"}
  - {id: top, kind: top-category, table: visits, by: [ward], per-patient: {cells: 1},
     share: "0.5"}
spend: {at-most: {epsilon: 1}}
""",
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return issue(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module", params=STUDIES)
def any_issued(request, tmp_path_factory):
    return issue(tmp_path_factory.mktemp("any"), more=STUDIES[request.param])


def test_every_certificate_has_the_form_of_the_schema_and_verifies(any_issued):
    certificate = read_certificate(any_issued.out / "certificate.json")
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(certificate, schema())
    found = verify(certificate, folder=any_issued.out, payload=any_issued.release.noisy.payload())
    assert found.holds, [check for check in found.checks if not check.holds]


def refused(certificate, *, match="."):
    with pytest.raises(VerificationError, match=match):
        read_form(certificate, form=CertificateForm)


@pytest.mark.parametrize("where", [(), ("release",), ("guarantee", "spend"), ("accounting",)])
def test_form_and_schema_refuse_an_unknown_member_and_a_missing_one(plain, where):
    extra, lacking = plain.certificate, plain.certificate
    inner, other = extra, lacking
    for step in where:
        inner, other = inner[step], other[step]
    inner["colour"] = "blue"
    other.pop({(): "hazards", ("release",): "title", ("accounting",): "hash"}.get(where, "measure"))
    for broken in (extra, lacking):
        refused(broken)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema())


FORMS = {
    "certificate-1/release": CertificateForm,
    "certificate-1/reuse": ReusedForm,
    "certificate-job-1/module": JobForm,
    "certificate-job-1/votes": JobForm,
}


def _built(part):
    """Yield every part of a certificate, itself first."""
    yield part
    for _, member in part:
        for each in member if isinstance(member, list) else [member]:
            if isinstance(each, CertificatePart):
                yield from _built(each)


@pytest.mark.parametrize(("golden", "form"), FORMS.items())
def test_a_certificate_that_lacks_a_part_cannot_be_built(golden, form):
    whole = read_form(read_certificate(GOLDEN / golden / "certificate.json"), form=form)
    for part in _built(whole):
        members = dict(part)
        assert type(part)(**members) == part
        for name, field in type(part).model_fields.items():
            if field.is_required():
                with pytest.raises(ValidationError, match="Field required"):
                    type(part)(**{other: of for other, of in members.items() if other != name})
        with pytest.raises(ValidationError, match="Extra inputs"):
            type(part)(**members, colour="blue")


@pytest.mark.parametrize(("golden", "form"), FORMS.items())
def test_a_member_that_no_form_names_is_found_in_certificates_of_every_kind(golden, form):
    folder = GOLDEN / golden
    certificate = read_certificate(folder / "certificate.json")
    assert certificate == read_form(certificate, form=form).to_json()
    jsonschema.validate(certificate, schema(form))
    for where in ("release", "guarantee", "software"):
        for change in ({"colour": "blue"}, {"in_words": {"en": "No."}}):
            lie = certificate | {where: certificate[where] | change}
            checks = {check.name: check for check in verify(lie, folder=folder).checks}
            assert "Extra inputs" in checks["form"].detail
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(lie, schema(form))


def test_a_plan_that_no_certificate_can_state_is_refused_while_that_is_free(tmp_path):
    workspace, study = open_study(make_clinic(tmp_path).study)
    plan = study.plan()
    with workspace:
        before = workspace.ledger.head().number
        with pytest.raises(UnsupportedError, match="audience"):
            workspace.release(replace(plan, study=replace(plan.study, audience="friends")))
        assert workspace.ledger.head().number == before


def test_a_plan_that_no_certificate_can_state_does_not_verify(plain):
    noisy = plain.release.noisy
    friends = replace(noisy.plan, study=replace(noisy.plan.study, audience="friends"))
    payload = replace(noisy, plan=friends).payload()
    found = verify(plain.certificate, folder=plain.out, payload=payload)
    failed = {check.name: check.detail for check in found.checks if not check.holds}
    assert "audience" in failed["plan"]


def test_what_is_not_known_is_absent_and_never_null(plain):
    assert "null" not in json.dumps(plain.certificate)
    assert "licence" not in plain.certificate["release"]
    with_null = plain.certificate
    with_null["release"]["licence"] = None
    refused(with_null, match="null")


def test_each_kind_of_statistic_says_in_which_direction_its_numbers_err():
    assert all(kind.bias for kind in KINDS)
    with pytest.raises(ContractError, match="lacks bias"):
        replace(KINDS[0], bias="")


def test_every_amount_is_a_text(plain):
    def floats(node):
        if isinstance(node, dict | list):
            parts = node.values() if isinstance(node, dict) else node
            return any(floats(each) for each in parts)
        return isinstance(node, float)

    assert not floats(plain.certificate)


@pytest.mark.parametrize("form", [CertificateForm, JobForm, ReusedForm])
def test_each_member_of_a_form_is_in_the_reference(form):
    page = (Path(__file__).parents[4] / "docs/reference/certificate.md").read_text("utf-8")
    for name, field in form.model_fields.items():
        assert f"`{field.alias or name}`" in page, name
        for part in _parts(field.annotation):
            for inner, of in part.model_fields.items():
                assert f"`{of.alias or inner}`" in page, f"{name}.{of.alias or inner}"


def _parts(annotation):
    if hasattr(annotation, "model_fields"):
        return [annotation]
    return [part for each in getattr(annotation, "__args__", ()) for part in _parts(each)]


def test_an_edit_of_any_line_breaks_the_signature(plain):
    certificate = plain.certificate
    for path in leaves(certificate):
        assert not signature_check(edited(certificate, path)).holds, path


def test_an_edit_of_any_line_is_found_even_if_the_issuer_signs_it_again(plain, monkeypatch):
    for name in ("read_payload", "plan_checks", "derived"):  # of one payload: the same each time
        monkeypatch.setattr(module, name, _once(getattr(module, name)))
    certificate, missed = plain.certificate, []
    for path in leaves(certificate):
        if path[0] == "signature":
            continue
        lie = signed(edited(certificate, path), plain.signer)
        if verify(lie, folder=plain.out, pinned_key=plain.signer.name).holds:
            missed.append(path)
    beyond = [
        path
        for path in missed
        if path[0] not in (*WORD_OF_ISSUER, *WORD_OF_LEDGER) and path not in DECLARED
    ]
    assert not beyond
    assert len(missed) < len(leaves(certificate)) / 6


def _once(function):
    """Return a function that remembers, by what its arguments say."""
    known = {}

    def remembered(*args, **kwargs):
        key = repr((args[0] if isinstance(args[0], bytes) else id(args[0]), kwargs))
        if key not in known:
            found = function(*args, **kwargs)
            known[key] = (list(found) if isinstance(found, Iterator) else found, args)
        return known[key][0]

    return remembered


def test_what_is_the_ledgers_word_is_found_with_its_chain(plain, tmp_path):
    chain = tmp_path / "chain.jsonl"
    database = sqlite3.connect(plain.secrets / "ledger.sqlite")
    rows = database.execute("SELECT number, previous, hash, body FROM event").fetchall()
    database.close()
    names = ("number", "previous", "hash", "body")
    chain.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows))
    rows, heads = read_chain(chain)
    key = plain.signer.name

    def holds(certificate):
        found = verify(certificate, folder=plain.out).holds
        return found and all(
            each.holds for each in chain_checks(certificate, rows=rows, heads=heads, key=key)
        )

    assert holds(plain.certificate)
    ours = ("accounting", "authority", "issued", "id")
    for path in leaves(plain.certificate):
        if path[0] in ours and path != ("accounting", "composition"):
            assert not holds(signed(edited(plain.certificate, path), plain.signer)), path


def test_a_signed_head_of_the_anchor_shows_that_the_entry_was_not_rewritten(plain):
    rows, heads = read_chain(plain.secrets / "anchor.jsonl")
    assert not rows
    key = plain.signer.name
    assert all(c.holds for c in chain_checks(plain.certificate, rows=(), heads=heads, key=key))
    for path in (("accounting", "hash"), ("accounting", "entry")):
        lie = edited(plain.certificate, path)
        found = list(chain_checks(lie, rows=(), heads=heads, key=key))
        assert [c.name for c in found if not c.holds] == ["signed head"], path


@pytest.mark.parametrize(
    ("path", "check", "words"),
    [
        (("guarantee", "spend", "rho"), "guarantee", "guarantee.spend.rho says"),
        (("guarantee", "unit"), "form", "guarantee.unit: Input should be"),
        (("guarantee", "in-words", "en"), "guarantee", "guarantee.in-words.en says"),
        (("mechanisms", 0, "law", "scale-squared"), "errors", "mechanisms[0].error"),
        (("mechanisms", 0, "error", "p95"), "errors", "the noise law gives"),
        (("mechanisms", 1, "sensitivity", "because"), "mechanisms", "mechanisms[1].sensitivity"),
        (("hazards", 0, "status"), "form", "hazards[0].status"),
        (("accounting", "charges", 0, "after"), "charges", "does not add up"),
        (("accounting", "payload-sha256"), "entry", "another payload"),
        (("outputs", 1, "sha256"), "outputs", "outputs[1].sha256"),
        (("limits", "fit-for", 0), "limits", "limits.fit-for[0]"),
    ],
)
def test_the_message_names_the_line_that_failed(plain, path, check, words):
    lie = signed(edited(plain.certificate, path), plain.signer)
    failed = {c.name: c.detail for c in verify(lie, folder=plain.out).checks if not c.holds}
    assert words in failed[check], failed


def test_noise_that_is_too_small_for_its_charge_is_found_without_the_noisy_numbers(plain, tmp_path):
    lie = plain.certificate
    lie["mechanisms"][0]["law"]["scale-squared"] = "1"
    found = verify(signed(lie, plain.signer), folder=tmp_path)
    failed = {c.name: c.detail for c in found.checks if not c.holds}
    assert "loses more than is charged" in failed["scales"]


@pytest.mark.parametrize("kind", ["release", "reuse"])
def test_certificates_of_version_1_verify(kind):
    folder = GOLDEN / "certificate-1" / kind
    certificate = read_certificate(folder / "certificate.json")
    assert certificate["certificate"] == "1"
    found = verify(certificate, folder=folder)
    assert found.holds, [check for check in found.checks if not check.holds]


@pytest.mark.parametrize("kind", ["module", "votes"])
def test_certificates_of_trainings_from_before_programs_were_written_still_verify(kind, tmp_path):
    folder = GOLDEN / "certificate-job-1" / kind
    certificate = read_certificate(folder / "certificate.json")
    assert certificate["certificate"] == "job-1"
    assert "program" not in certificate["plan"]["spec"]
    found = verify(certificate, folder=folder, read_spec=read_spec)
    assert found.holds, [check for check in found.checks if not check.holds]
    copied = shutil.copytree(folder, tmp_path / kind)
    (published,) = (copied / each["path"] for each in certificate["outputs"])
    published.write_bytes(published.read_bytes()[:-1] + b"!")
    assert not verify(certificate, folder=copied, read_spec=read_spec).holds


def test_tables_that_another_version_made_otherwise_are_not_called_changed(plain, tmp_path):
    folder = shutil.copytree(plain.out, tmp_path / "out")
    body = {name: part for name, part in plain.certificate.items() if name != "signature"}
    (output, *_) = (each for each in body["outputs"] if each["path"].startswith("tables/"))
    other = (folder / output["path"]).read_bytes().replace(b"0.95", b"0.90")
    (folder / output["path"]).write_bytes(other)
    output["sha256"] = hashlib.sha256(other).hexdigest()

    def said(source):
        told = body | {"software": body["software"] | {"source-sha256": source}}
        checks = verify(signed(told, plain.signer), folder=folder).checks
        return {each.name: each.detail for each in checks if not each.holds}[output["path"]]

    assert "another version issued it" in said("0" * 64)
    assert "was changed, or is not" in said(body["software"]["source-sha256"])


@pytest.mark.parametrize("version", ["0", "3"])
def test_a_certificate_of_another_version_does_not_verify(plain, version):
    other = {n: p for n, p in plain.certificate.items() if n not in ("hazards", "limits")}
    for body in (other, plain.certificate):
        told = signed(body | {"certificate": version}, plain.signer)
        assert not verify(told, folder=plain.out).holds


def test_a_house_rule_alone_lets_the_noisy_numbers_be_missing(plain, tmp_path):
    for file in ("certificate.json", "tables"):
        source = plain.out / file
        if source.is_dir():
            shutil.copytree(source, tmp_path / file)
        else:
            shutil.copy(source, tmp_path / file)
    found = verify(plain.certificate, folder=tmp_path)
    assert [c.name for c in found.checks if not c.holds] == ["noisy payload"]
    withheld = plain.certificate
    withheld["small-cells"] = {"noisy-file": "withheld"}
    assert not verify(signed(withheld, plain.signer), folder=tmp_path).holds


def test_a_path_that_only_the_certificate_names_is_never_opened(tmp_path_factory):
    found = issue(tmp_path_factory.mktemp("house"), more="small-cells: cms\n")
    lie = found.certificate
    lie["outputs"].append({"path": "../clinic/patients.csv", "sha256": "0" * 64})
    checks = verify(signed(lie, found.signer), folder=found.out).checks
    assert not [c for c in checks if "patients.csv" in c.name + c.detail]
    assert not all(c.holds for c in checks)


def test_a_delivery_again_has_the_same_certificate(plain, tmp_path):
    assert again(plain.clinic, tmp_path / "again").certificate == plain.certificate


def test_the_words_of_the_promise_state_no_bare_epsilon(plain):
    said = in_words(plain.release.plan)
    assert set(said) == {"en", "zh"}
    assert "patient" in said["en"]
    assert "患者" in said["zh"]
    assert "ε" not in said["en"] + said["zh"]


def test_a_certificate_verifies_when_a_language_came_after_it(plain, monkeypatch):
    monkeypatch.setattr(signed_words, "languages", lambda **_: ("de", "en", "zh"))
    known = signed_words.load_words
    monkeypatch.setattr(
        signed_words, "load_words", lambda tag, **of: known("zh" if tag == "de" else tag, **of)
    )
    assert set(in_words(plain.release.plan)) == {"de", "en", "zh"}
    assert verify(plain.certificate, folder=plain.out).holds


@pytest.mark.parametrize(
    ("tag", "said"),
    [("zh", "无论如何都不会泄露。"), ("de", "Nichts wird verraten."), ("en", "No.")],
)
def test_a_certificate_whose_words_do_not_follow_does_not_verify_in_any_language(plain, tag, said):
    lie = copy.deepcopy(plain.certificate)
    lie["guarantee"]["in-words"][tag] = said
    assert not verify(signed(lie, plain.signer), folder=plain.out).holds


def test_signed_words_without_english_do_not_have_the_form(plain):
    lie = copy.deepcopy(plain.certificate)
    del lie["guarantee"]["in-words"]["en"]
    refused(lie, match="English")
    assert not verify(signed(lie, plain.signer), folder=plain.out).holds


def test_a_zcdp_promise_in_words_is_the_pointwise_bound_and_not_the_tight_epsilon(plain):
    import math

    from confide.privacy.accounting.concentrated import simple_epsilon_at

    plan = plain.release.plan
    factor = float(in_words(plan)["en"].partition("a factor ")[2].partition(",")[0])
    pointwise = math.exp(simple_epsilon_at(plan.loss, delta=plan.dataset.delta))
    assert 0 <= factor - pointwise <= 0.001
    assert factor > math.exp(float(plain.certificate["guarantee"]["equivalent"]["epsilon"]))


def test_equal_certificates_have_equal_bytes(plain):
    written = (plain.out / "certificate.json").read_bytes()
    shuffled = dict(reversed(list(copy.deepcopy(plain.certificate).items())))
    from confide.plans.canonical import canonical_bytes

    assert canonical_bytes(shuffled) == written


def test_every_file_that_the_program_reads_is_in_the_hash_of_its_source():
    from importlib import resources
    from pathlib import Path

    from confide.release.certificate.software import _sources

    root = resources.files("confide")
    here = Path(str(root))
    files = {str(p.relative_to(here)) for p in here.rglob("*") if p.is_file()}
    hashed = {name for name, _ in _sources(root, "")}
    assert {name for name in files - hashed if not name.endswith((".pyc", "py.typed"))} == set()

"""A release of the small clinic, saved and signed, for tests of certificates."""

import copy
from dataclasses import dataclass
from pathlib import Path

from confide.plans.canonical import Json, canonical_bytes
from confide.release.export import tables
from confide.release.noisy import shows_noisy
from confide.release.site.keys import SigningKey, read_signing_key
from confide.report.release import Release
from confide.workspace import open_study
from small_clinic import Clinic, make_clinic


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A clinic with one release of it in a folder."""

    clinic: Clinic
    release: Release
    out: Path

    @property
    def secrets(self) -> Path:
        return self.clinic.folder / ".confide"

    @property
    def signer(self) -> SigningKey:
        return read_signing_key(self.secrets)

    @property
    def certificate(self) -> Json:
        return copy.deepcopy(self.release.certificate)


def issue(base: Path, *, more: str = "", dataset: str | None = None) -> Issued:
    """Release the clinic's study, with ``more`` lines in it, into ``base/out``."""
    folder = base / "clinic"
    clinic = make_clinic(folder) if dataset is None else make_clinic(folder, dataset=dataset)
    clinic.study.write_text(clinic.study.read_text() + more)
    return again(clinic, base / "out")


def again(clinic: Clinic, out: Path, *, request: str | None = None) -> Issued:
    """Run the clinic's study as it stands."""
    workspace, study = open_study(clinic.study)
    with workspace:
        release = workspace.release(study.plan(), request=request)
    _write(release, out)
    return Issued(clinic=clinic, release=release, out=out)


def _write(release: Release, out: Path) -> None:
    """Write the certified files; figures and report take longer and are not certified."""
    files = {"certificate.json": canonical_bytes(release.certificate)}
    files |= tables(release.plan, release.estimates)
    if shows_noisy(release.plan.study):
        files["noisy.json"] = release.noisy.payload()
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)


def signed(body: Json, signer: SigningKey) -> Json:
    """Sign whatever it says."""
    body = {name: part for name, part in body.items() if name != "signature"}
    value = signer.sign(canonical_bytes(body)).hex()
    over = "RFC 8785 form of this object without signature"
    return body | {
        "signature": {"alg": "Ed25519", "key": signer.name, "over": over, "value": value}
    }


def leaves(node: Json, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the way to every leaf."""
    match node:
        case dict():
            return [leaf for name, each in node.items() for leaf in leaves(each, (*path, name))]
        case list():
            return [leaf for at, each in enumerate(node) for leaf in leaves(each, (*path, at))]
        case _:
            return [path]


def edited(certificate: Json, path: tuple[str | int, ...]) -> Json:
    """Return the certificate with one leaf changed to another value of its kind."""
    lie = copy.deepcopy(certificate)
    *way, last = path
    inner = lie
    for step in way:
        inner = inner[step]
    inner[last] = _other(inner[last])
    return lie


def _other(value: Json) -> Json:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if value[:1].isdigit():
            return str((int(value[0]) + 1) % 10) + value[1:]
        case str() if len(value) >= 64 and set(value[-64:]) <= set("0123456789abcdef"):
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case str():
            return value + "x"
        case _:
            raise AssertionError(value)

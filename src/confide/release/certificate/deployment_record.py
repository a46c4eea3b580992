"""A certificate as a record for the public registry of differential-privacy deployments.

The registry asks at three tiers: (1) curator, intended use, data product and date; (2) flavour,
privacy unit, loss and deployment model; (3) data domain, unprotected quantities, accounting, and
implementation with its reasons [OPR25, NGV25].  A certificate answers all three; the member names
are ours, grouped as the registry groups them, since its submission form is filled in by people.

References:
    [OPR25] OpenDP, NIST and others. Differential privacy deployments registry: transparency tiers.
        2025. https://registry.opendp.org/transparency-tiers
    [NGV25] Nanayakkara, Ghazi, Vadhan. Practitioners' perspectives on a differential privacy
        deployment registry. 2025. https://arxiv.org/abs/2509.13509
"""

from confide.plans.canonical import Json
from confide.release.certificate.signed_words import ENGLISH

SCHEMA = "confide.deployment-record/1"
TIER = 3
FLAVOURS = {
    "pure": "pure differential privacy (ε-DP)",
    "approx": "approximate differential privacy ((ε, δ)-DP)",
    "zcdp": "zero-concentrated differential privacy (ρ-zCDP)",
}
_TRUSTED = {
    "central": "the data holder, who reads the records and adds the noise",
    "sites": "each site with its own records; no site and no coordinator with another's",
}
_ADJACENCY = {
    "add-remove": "add or remove all records of one",
    "substitute": "replace all records of one",
}


def deployment_record(certificate: Json) -> Json:
    """Return the record; every member is a statement of the certificate."""
    release, guarantee = certificate["release"], certificate["guarantee"]
    return {
        "schema": SCHEMA,
        "transparency-tier": TIER,
        "name": release["title"] or release["study"],
        "data-curator": certificate["issuer"]["organisation"],
        "contact": certificate["issuer"]["contact"],
        "intended-use": release["purpose"],
        "data-product": {
            "type": release["product"],
            "description": [each["query"] for each in certificate["mechanisms"]],
            "audience": release["audience"],
            **{n: release[n] for n in ("region", "period", "licence") if release.get(n)},
        },
        "publication-date": certificate["issued"][:10],
        "dp-flavour": {
            "name": FLAVOURS[guarantee["spend"]["measure"]],
            "adjacency": f"{_ADJACENCY[guarantee['adjacency']]} {guarantee['unit']}",
            "data-domain": certificate["data"]["facts-taken-as-public"],
            "unprotected-quantities": [each[ENGLISH] for each in guarantee["not-protected"]],
        },
        "privacy-loss": {
            "privacy-unit": guarantee["unit"],
            "privacy-unit-description": guarantee["contribution-bounds"],
            "parameters": guarantee["spend"],
            "shown-as": guarantee["equivalent"],
            "in-words": guarantee["in-words"][ENGLISH],
        },
        "deployment-model": {
            "name": guarantee["trust"],
            "trusted": _TRUSTED[guarantee["trust"]],
        },
        "privacy-accounting": {
            "composition": certificate["accounting"]["composition"],
            "budgets": certificate["accounting"]["charges"],
            "cadence": release["cadence"],
            "post-processing": sorted(
                {said for each in certificate["mechanisms"] for said in each["post-processing"]}
            ),
        },
        "implementation": {
            "mechanisms": [
                {
                    "query": each["query"],
                    "sensitivity": each["sensitivity"],
                    "noise": each["law"],
                    "sampler": each["sampler"],
                    "parameter-selection": each["tuning"],
                }
                for each in certificate["mechanisms"]
            ],
            "software": {
                name: certificate["software"][name] for name in ("name", "version", "source-sha256")
            },
            "hazards": certificate["hazards"],
            "utility": certificate["limits"],
        },
        "evidence": {
            "certificate": certificate["id"],
            "key": certificate["issuer"]["key"],
            "payload-sha256": certificate["accounting"]["payload-sha256"],
        },
    }

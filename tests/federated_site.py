"""One site of a federation as a process of its own: `python federated_site.py <settings>`.

Exit codes: 0 said all, 3 the round ended.  Where the settings say so it kills itself at a step.
"""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from confide.errors import RoundAbortedError
from confide.jobs.federated.carriers.by_folder import take_part
from confide.jobs.federated.carriers.folder_carrier import FolderCarrier
from confide.jobs.federated.secure_sum.participant import Participant
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.noise.entropy import SystemEntropy
from confide.plans.canonical import decode
from confide.plans.sites.federation import Federation, Member
from confide.plans.sites.tolerance import Tolerance
from confide.release.site.keys import SigningKey

NAMES = {kind.__name__: kind for kind in (Federation, Member, RoundTerms, Tolerance)}


def main():
    settings = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    terms = decode(RoundTerms, settings["terms"], names=NAMES)
    site = settings["site"]

    def contribution():
        return np.array(settings["vector"], dtype=np.int64)

    participant = Participant(
        terms,
        site=site,
        key=SigningKey(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(settings["key"]))),
        used=UsedRounds(Path(settings["used"])),
        contribution=contribution,
        entropy=SystemEntropy(),
    )
    carrier = FolderCarrier(
        Path(settings["root"]), terms=terms, member=terms.federation.sites[site].name
    )
    put = carrier.put

    def put_or_die(wire, *, leg, to):
        if leg == settings["dies_before"]:
            os.kill(os.getpid(), signal.SIGKILL)
        put(wire, leg=leg, to=to)

    carrier.put = put_or_die
    try:
        take_part(
            participant,
            carrier=carrier,
            federation=terms.federation,
            seconds=settings["seconds"],
            pause=0.02,
        )
    except RoundAbortedError as error:
        sys.stdout.write(str(error))
        sys.exit(3)


if __name__ == "__main__":
    main()

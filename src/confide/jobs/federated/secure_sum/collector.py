"""The coordinator's part in a round: it passes messages on, and opens the sum that survivors allow.

*Rules.*  It takes one message of each site at each step and goes on when everybody answered, or
when its carrier says that time is up.  What it holds of a site is that site's masked vector, added
to the others at once.  A sum is given only if every secret that was joined from shares is the one
that its site committed to, and if the sum is within what so many sites can give; else there is
none.

References:
    [BIKMMPRSS17] Bonawitz, Ivanov, Kreuter, Marcedone, McMahan, Patel, Ramage, Segal, Seth.
        Practical secure aggregation for privacy-preserving machine learning. CCS 2017, fig. 4.
        https://doi.org/10.1145/3133956.3133982
"""

from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from confide.errors import ContractError, MessageRefusedError, RoundAbortedError
from confide.jobs.federated.secure_sum.agreement import PUBLIC, agreed, is_sound
from confide.jobs.federated.secure_sum.bodies import (
    DIGEST,
    SEALED_PAIR,
    Dealer,
    require_octets,
    sha256,
    written_dealers,
    written_delivery,
    written_survivors,
)
from confide.jobs.federated.secure_sum.envelope import (
    COORDINATOR,
    EVERYONE,
    Envelope,
    Leg,
    opened_wire,
    signed_wire,
)
from confide.jobs.federated.secure_sum.mask_stream import add_mask
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.jobs.federated.secure_sum.secret_sharing import SHARE, secret_of
from confide.jobs.federated.secure_sum.self_mask import (
    commitment_to,
    own_mask_key,
    pair_mask_key,
)
from confide.release.site.keys import SigningKey


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumOfSites:
    """What a round gives.

    Attributes:
        total: Shape (length,); the exact sum of the survivors' vectors.
        survivors: Numbers of the sites that are in it.
    """

    total: NDArray[np.int64]
    survivors: tuple[int, ...]


class Collector:
    """The coordinator in one round.

    Args:
        terms: Of the round.
        key: The coordinator's signing key, whose public half the federation pins.

    Raises:
        ContractError: If the key is not the one that is pinned.
    """

    def __init__(self, terms: RoundTerms, *, key: SigningKey) -> None:
        if key.name != terms.federation.coordinator.key:
            raise ContractError("The coordinator's key is not the one that the federation pins.")
        self._terms, self._context, self._signing = terms, terms.context, key
        self._total = np.zeros(terms.length, dtype=np.uint64)
        self._wires: dict[int, bytes] = {}
        self._taken: dict[int, bytes] = {}
        self._ended = ""
        self.expects = Leg.ADVERTISE
        self.asked: tuple[int, ...] = tuple(range(len(terms.federation.sites)))
        self.result: SumOfSites | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everybody who was asked at this step has answered."""
        return len(self._taken) == len(self.asked)

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of those who have not answered at this step."""
        return tuple(site for site in self.asked if site not in self._taken)

    def receive(self, wire: bytes) -> None:
        """Take a message of a site; the same one again does nothing.

        Raises:
            MessageRefusedError: If it is not signed, not of this step, or not the site's first.
            RoundAbortedError: If the round ended before.
        """
        self._require_open()
        envelope = opened_wire(wire, context=self._context, federation=self._terms.federation)
        site = envelope.sender
        if site not in self.asked or envelope.recipient != COORDINATOR:
            raise MessageRefusedError("The message is not of a site that was asked.")
        if envelope.leg is not self.expects:
            raise MessageRefusedError("The message is early, or late.")
        if site in self._taken:
            if self._taken[site] == sha256(wire):
                return
            raise MessageRefusedError(f"{self._name(site)} said two things at one step.")
        self._check(site, envelope.body)
        self._taken[site] = sha256(wire)
        if envelope.leg is not Leg.MASKED:
            self._wires[site] = wire

    def close(self) -> dict[int, bytes]:
        """End a step, and return what each site is told; at the last one, make the sum.

        Returns:
            Number of the site ↦ message; empty when the sum is made.

        Raises:
            RoundAbortedError: If too few sites answered, or shares lie; the round has ended.
        """
        self._require_open()
        try:
            return self._close()
        except RoundAbortedError as error:
            self._ended = str(error)
            self._total[:] = 0
            raise

    def _close(self) -> dict[int, bytes]:
        sites, wires = tuple(sorted(self._taken)), dict(sorted(self._wires.items()))
        self._require_enough(sites)
        match self.expects:
            case Leg.ADVERTISE:
                told = self._keys(sites, wires)
            case Leg.SHARE:
                told = self._deliveries(sites, wires)
            case Leg.MASKED:
                self._survivors = sites
                body = written_survivors(self._shared, sites)
                self._consented = sha256(body)
                told = self._tell(Leg.SURVIVORS, sites, body)
            case Leg.CONSENT:
                told = self._tell(Leg.CONSENTS, sites, b"".join(wires.values()))
            case _:
                self._open_sum(wires)
                return {}
        self.expects, self.asked = Leg(self.expects + 2), sites
        self._taken, self._wires = {}, {}
        return told

    def _require_open(self) -> None:
        if self._ended or self.result is not None:
            raise RoundAbortedError(self._ended or "The round is over.")

    def _require_enough(self, sites: tuple[int, ...]) -> None:
        held = self._terms.federation.tolerance
        last = self.expects in (Leg.CONSENT, Leg.UNMASK)
        least = held.threshold if last else held.least_alive
        if len(sites) < least:
            raise RoundAbortedError(
                f"Only {len(sites)} sites answered at step {self.expects.name.lower()}, fewer than "
                f"{least}; missing: {self._named(self.missing)}. {self._charged(sites)}".strip(),
                hint="" if self._is_paid_for else "Begin another run when they are back.",
            )

    @property
    def _is_paid_for(self) -> bool:
        """Whether numbers were asked for, in this sum or one before."""
        return self._terms.number > 0 or self.expects >= Leg.MASKED

    def _charged(self, sites: tuple[int, ...]) -> str:
        """Return whose charges stay, of those who answered and others; "" where none need to."""
        if not self._is_paid_for:
            return ""
        if self.expects < Leg.MASKED:
            return "Charges of all sites in the sums before stay."
        sent = sites if self.expects is Leg.MASKED else self._survivors
        if not sent:
            return "Charges may stay at all that were asked."
        return f"Charges of {self._named(sent)} stay, and perhaps of others that were asked."

    def _named(self, sites: tuple[int, ...]) -> str:
        return ", ".join(self._terms.federation.sites[site].name for site in sites)

    def _check(self, site: int, body: bytes | memoryview) -> None:
        """Refuse what a site may not say, and keep a vector."""
        match self.expects:
            case Leg.ADVERTISE:
                require_octets(body, size=2 * PUBLIC)
                halves = bytes(body[:PUBLIC]), bytes(body[PUBLIC:])
                if halves[0] == halves[1] or not all(is_sound(half) for half in halves):
                    raise MessageRefusedError(f"{self._name(site)} sent a key that hides nothing.")
            case Leg.SHARE:
                require_octets(body, size=2 * DIGEST + (len(self.asked) - 1) * SEALED_PAIR)
                self._require_same(site, body, self._listed)
            case Leg.MASKED:
                require_octets(body, size=DIGEST + 8 * self._terms.length)
                self._require_same(site, body, self._shared)
                self._total += np.frombuffer(body, dtype="<u8", offset=DIGEST)
            case Leg.CONSENT:
                require_octets(body, size=DIGEST)
                self._require_same(site, body, self._consented)
            case _:
                require_octets(body, size=SHARE * len(self._dealers))

    def _require_same(self, site: int, body: bytes | memoryview, known: bytes) -> None:
        if bytes(body[:DIGEST]) != known:
            raise MessageRefusedError(f"{self._name(site)} answered something that was not said.")

    def _keys(self, sites: tuple[int, ...], wires: dict[int, bytes]) -> dict[int, bytes]:
        body = b"".join(wires.values())
        self._listed = sha256(body)
        self._bound = self._context + self._listed
        self._public = {site: self._body(wire)[PUBLIC:] for site, wire in wires.items()}
        return self._tell(Leg.KEYS, sites, body)

    def _deliveries(self, sites: tuple[int, ...], wires: dict[int, bytes]) -> dict[int, bytes]:
        bodies = {site: self._body(wire) for site, wire in wires.items()}
        commitments = {site: body[DIGEST : 2 * DIGEST] for site, body in bodies.items()}
        dealers = written_dealers(
            [
                Dealer(site=site, commitment=commitments[site], message=sha256(body))
                for site, body in bodies.items()
            ]
        )
        self._dealers, self._shared = sites, sha256(dealers)
        self._commitments = commitments
        dealt_to = {site: [other for other in self.asked if other != site] for site in sites}
        told = {}
        for site in sites:
            pairs = [
                _part(bodies[other][2 * DIGEST :], dealt_to[other].index(site))
                for other in sites
                if other != site
            ]
            body = written_delivery(dealers, pairs)
            told[site] = self._seal(Leg.DELIVER, site, body)
        return told

    def _open_sum(self, wires: dict[int, bytes]) -> None:
        """Take the masks away that did not vanish, by the shares that survivors gave."""
        given = {site: self._body(wire) for site, wire in wires.items()}
        for place, site in enumerate(self._dealers):
            shares = {giver: _share(body, place) for giver, body in given.items()}
            secret = secret_of(shares, threshold=self._terms.federation.tolerance.threshold)
            if site in self._survivors:
                self._take_own_mask(site, secret)
            else:
                self._take_pair_masks(site, secret)
        total = self._total.view(np.int64)
        most = len(self._survivors) * self._terms.bound
        if not (-most <= int(total.min()) and int(total.max()) <= most):
            raise RoundAbortedError("The sum is beyond what the sites can give.")
        self.result = SumOfSites(total=total, survivors=self._survivors)

    def _take_own_mask(self, site: int, secret: bytes | None) -> None:
        commitment = self._commitments[site]
        if secret is None or (commitment_to(secret, context=self._bound, site=site) != commitment):
            raise RoundAbortedError(f"Shares of {self._name(site)} lie.")
        key = own_mask_key(secret, context=self._bound, site=site)
        add_mask(self._total, key=key, sign=-1)

    def _take_pair_masks(self, site: int, secret: bytes | None) -> None:
        private = None if secret is None else X25519PrivateKey.from_private_bytes(secret)
        if private is None or private.public_key().public_bytes_raw() != self._public[site]:
            raise RoundAbortedError(f"Shares of {self._name(site)} lie.")
        for other in self._survivors:
            shared = agreed(private, self._public[other])
            if shared is None:
                raise RoundAbortedError(f"{self._name(other)} sent a key that hides nothing.")
            key = pair_mask_key(shared, context=self._bound, sites=(site, other))
            add_mask(self._total, key=key, sign=-1 if other < site else 1)

    def _body(self, wire: bytes) -> bytes:
        opened = opened_wire(wire, context=self._context, federation=self._terms.federation)
        return bytes(opened.body)

    def _tell(self, leg: Leg, sites: tuple[int, ...], body: bytes) -> dict[int, bytes]:
        return dict.fromkeys(sites, self._seal(leg, EVERYONE, body))

    def _seal(self, leg: Leg, recipient: int, body: bytes) -> bytes:
        envelope = Envelope(leg=leg, sender=COORDINATOR, recipient=recipient, body=body)
        return signed_wire(envelope, context=self._context, key=self._signing)

    def _name(self, site: int) -> str:
        return f"Site {self._terms.federation.sites[site].name!r}"


def _part(body: bytes, place: int) -> bytes:
    return body[place * SEALED_PAIR : (place + 1) * SEALED_PAIR]


def _share(body: bytes, place: int) -> bytes:
    return body[place * SHARE : (place + 1) * SHARE]

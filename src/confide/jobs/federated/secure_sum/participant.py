"""A site's part in a round: a machine that takes signed messages and answers them, or ends.

*Rules.*  It speaks in a round once, after the round is marked as used.  It answers each step once:
the same message again gets the same answer, another one at the same step ends the round.  It asks
for its vector once, when everybody who shared is known, and that is the last moment at which
nothing of it has left.  It signs one list of survivors, in which it is and which is not too short.
It gives shares only to t consents of distinct survivors to that very list, and of each site either
the share of its own mask or that of its key, never both.

What is wrong with a message itself (:class:`MessageRefusedError`) changes nothing: anybody can send
noise.  What the coordinator signed and may not say (:class:`RoundAbortedError`) ends the round.

References:
    [BIKMMPRSS17] Bonawitz, Ivanov, Kreuter, Marcedone, McMahan, Patel, Ramage, Segal, Seth.
        Practical secure aggregation for privacy-preserving machine learning. CCS 2017, fig. 4.
        https://doi.org/10.1145/3133956.3133982
"""

from collections.abc import Callable, Collection
from typing import TypeAlias, TypeVar

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray

from confide.errors import (
    ContractError,
    InvalidParameterError,
    MessageRefusedError,
    RoundAbortedError,
)
from confide.jobs.federated.secure_sum.agreement import agreed, disclosed, enclosed, key_from
from confide.jobs.federated.secure_sum.bodies import (
    ADVERTISED,
    CONSENTED,
    equal_parts,
    read_delivery,
    read_survivors,
    require_ascending,
    require_octets,
    sha256,
)
from confide.jobs.federated.secure_sum.envelope import (
    COORDINATOR,
    EVERYONE,
    FRAME,
    Envelope,
    Leg,
    opened_wire,
    signed_wire,
)
from confide.jobs.federated.secure_sum.fixed_point import require_within
from confide.jobs.federated.secure_sum.mask_stream import add_mask
from confide.jobs.federated.secure_sum.round_terms import RoundTerms
from confide.jobs.federated.secure_sum.secret_sharing import SHARE, dealt
from confide.jobs.federated.secure_sum.self_mask import (
    commitment_to,
    own_mask_key,
    pair_mask_key,
)
from confide.jobs.federated.secure_sum.used_rounds import UsedRounds
from confide.noise.entropy import Entropy
from confide.release.site.keys import SigningKey

_Result = TypeVar("_Result")
Contribution: TypeAlias = Callable[[], NDArray[np.int64]]
"""Gives a site's vector, noise included; charges the site's ledger before it reads a row."""


class Participant:
    """One site in one round.

    ``expects`` is the step at which the coordinator is heard next; None before the round began.

    Args:
        terms: Of the round, as this site approved them.
        site: Its number.
        key: Its signing key, whose public half the federation pins.
        used: Marks of rounds, durable.
        contribution: Called at most once.
        entropy: Source of shares and of the site's own mask.

    Raises:
        ContractError: If the key is not the one that is pinned for the site.
    """

    def __init__(
        self,
        terms: RoundTerms,
        *,
        site: int,
        key: SigningKey,
        used: UsedRounds,
        contribution: Contribution,
        entropy: Entropy,
    ) -> None:
        if key.name != terms.federation.sites[site].key:
            raise ContractError("The site's key is not the one that the federation pins.")
        self._terms, self._context, self.site = terms, terms.context, site
        self._signing, self._used, self._contribution = key, used, contribution
        self._entropy = entropy
        self._answers: dict[bytes, bytes] = {}
        self._delivery = b""
        self._survivors: set[int] = set()
        self.expects: Leg | None = None
        self._ended = ""
        self._private: tuple[X25519PrivateKey, ...] = ()
        """Of the key that seals shares, and of the key that makes masks."""
        self._forget()

    @property
    def is_done(self) -> bool:
        """Whether the site has said all that it will say, or the round ended for it."""
        return bool(self._ended) or self.expects is Leg.UNMASK

    @property
    def survivors(self) -> tuple[int, ...]:
        """Numbers of the sites to whose sum this one consented, ascending; () before."""
        return tuple(sorted(self._survivors))

    def begin(self) -> bytes:
        """Mark the round as used, and return the site's first message.

        Raises:
            RoundAbortedError: If the round was used before, by this machine or another.
        """
        self._used.use(run=self._terms.run, number=self._terms.number)
        self._private = (X25519PrivateKey.generate(), X25519PrivateKey.generate())
        self._own_keys = b"".join(key.public_key().public_bytes_raw() for key in self._private)
        self.expects = Leg.KEYS
        return self._say(Leg.ADVERTISE, self._own_keys)

    def accept(self, wire: bytes) -> None:
        """Check the delivery, after which the site's numbers would be asked for; answer nothing.

        What is wrong with it is found before anything is charged.  :meth:`receive` is then given
        the same message.

        Raises:
            MessageRefusedError: As :meth:`receive`, or if it is of another step; nothing changed.
            RoundAbortedError: If the round ended, now or before.
        """
        if self._ended:
            raise RoundAbortedError(self._ended)
        envelope = opened_wire(wire, context=self._context, federation=self._terms.federation)
        self._require_turn(envelope)
        if envelope.leg is not Leg.DELIVER:
            raise MessageRefusedError("The message is no delivery of shares.")
        self._judged(lambda: self._delivered(envelope.body))

    def receive(self, wire: bytes) -> bytes:
        """Return the answer to a message of the coordinator.

        Raises:
            MessageRefusedError: If it is not for this site, not signed, or early; nothing changed.
            RoundAbortedError: If the round ended, now or before.
            Exception: Of the contribution, once; the round has ended then.
        """
        if self._ended:
            raise RoundAbortedError(self._ended)
        if (known := self._answers.get(sha256(wire))) is not None:
            return known
        envelope = opened_wire(wire, context=self._context, federation=self._terms.federation)
        self._require_turn(envelope)
        answer = self._judged(lambda: self._answer(envelope))
        self._answers[sha256(wire)] = answer
        return answer

    def _judged(self, work: Callable[[], _Result]) -> _Result:
        """Return what work on a message of the coordinator returns; its failure ends the round."""
        self._ended = "The round ended for this site."
        try:
            done = work()
        except MessageRefusedError as error:  # signed by the coordinator, so it is its doing
            self._end(f"The coordinator broke the protocol. {error}")
        except RoundAbortedError as error:
            self._end(str(error))
        except BaseException:
            self._forget()
            raise
        self._ended = ""
        return done

    def _require_turn(self, envelope: Envelope) -> None:
        if envelope.sender != COORDINATOR or envelope.recipient not in (self.site, EVERYONE):
            raise MessageRefusedError("The message is not from the coordinator to this site.")
        if self.expects is None or envelope.leg > self.expects:
            raise MessageRefusedError("The message is early.")
        if envelope.leg < self.expects:
            self._end("The coordinator said two things at one step.")

    def _end(self, reason: str) -> None:
        self._ended = reason
        self._forget()
        raise RoundAbortedError(reason) from None

    def _forget(self) -> None:
        """Let go of every secret."""
        self._private = ()
        self._own_seed = self._own_keys = b""
        self._peers: dict[int, tuple[bytes, bytes]] = {}
        self._held: dict[int, bytes] = {}

    def _say(self, leg: Leg, body: bytes) -> bytes:
        envelope = Envelope(leg=leg, sender=self.site, recipient=COORDINATOR, body=body)
        return signed_wire(envelope, context=self._context, key=self._signing)

    def _answer(self, envelope: Envelope) -> bytes:
        match envelope.leg:
            case Leg.KEYS:
                body, following = self._share(envelope.body), Leg.DELIVER
            case Leg.DELIVER:
                body, following = self._mask(envelope.body), Leg.SURVIVORS
            case Leg.SURVIVORS:
                body, following = self._consent(envelope.body), Leg.CONSENTS
            case Leg.CONSENTS:
                body, following = self._unmask(envelope.body), Leg.UNMASK
            case _:
                raise MessageRefusedError("The coordinator says nothing at this step.")
        answer = self._say(Leg(envelope.leg + 1), body)
        self.expects = following
        if following is Leg.UNMASK:
            self._forget()
        return answer

    def _share(self, body: bytes | memoryview) -> bytes:
        """Check everybody's keys, and deal shares of this site's two secrets."""
        adverts = self._opened(body, width=ADVERTISED, leg=Leg.ADVERTISE)
        self._require_enough(adverts)
        keys = {site: bytes(advert.body) for site, advert in adverts.items()}
        if keys[self.site] != self._own_keys:
            raise RoundAbortedError("The coordinator changed this site's keys.")
        halves = [key[at : at + 32] for key in keys.values() for at in (0, 32)]
        if len(set(halves)) != len(halves):
            raise RoundAbortedError("Two keys of the round are the same.")
        for site, pair in keys.items():
            if site != self.site:
                sealing, masking = (
                    agreed(self._private[0], pair[:32]),
                    agreed(self._private[1], pair[32:]),
                )
                if sealing is None or masking is None:
                    raise RoundAbortedError(f"{self._name(site)} sent a key that hides nothing.")
                self._peers[site] = sealing, masking
        self._listed = sha256(body)
        self._bound = self._context + self._listed
        self._own_seed = self._entropy.octets(32).tobytes()
        return self._dealt(sorted(keys))

    def _dealt(self, sites: list[int]) -> bytes:
        seeds, keys = (
            dealt(
                secret,
                holders=sites,
                threshold=self._terms.federation.tolerance.threshold,
                entropy=self._entropy,
            )
            for secret in (self._own_seed, self._private[1].private_bytes_raw())
        )
        pairs = {site: seeds[site] + keys[site] for site in sites}
        self._held[self.site] = pairs.pop(self.site)
        commitment = commitment_to(self._own_seed, context=self._bound, site=self.site)
        sealed_pairs = [
            enclosed(pair, key=self._pair_key(self.site, site, peer=site), beside=self._bound)
            for site, pair in pairs.items()
        ]
        body = self._listed + commitment + b"".join(sealed_pairs)
        self._sent = sha256(body)
        return body

    def _pair_key(self, sender: int, recipient: int, *, peer: int) -> bytes:
        secret = self._peers[peer][0]
        return key_from(secret, purpose="shares", context=self._bound, pair=(sender, recipient))

    def _mask(self, body: bytes | memoryview) -> bytes:
        """Open the shares of others, ask for the vector, and hide it."""
        others = self._delivered(body)
        return self._shared + self._masked(others)

    def _delivered(self, body: bytes | memoryview) -> list[int]:
        """Open the shares of others; return who they are."""
        if self._delivery not in (b"", sha256(body)):
            raise RoundAbortedError("The coordinator said two things at one step.")
        self._delivery = sha256(body)
        dealers, listed, sealed_pairs = read_delivery(body)
        self._require_enough([dealer.site for dealer in dealers])
        require_ascending([dealer.site for dealer in dealers], below=len(self._names))
        others = [dealer.site for dealer in dealers if dealer.site != self.site]
        if not set(others) <= set(self._peers):
            raise RoundAbortedError("Somebody shared who sent no keys.")
        if next(d.message for d in dealers if d.site == self.site) != self._sent:
            raise RoundAbortedError("The coordinator changed this site's shares.")
        for site, pair in zip(others, sealed_pairs, strict=True):
            key = self._pair_key(site, self.site, peer=site)
            opened = disclosed(pair, key=key, beside=self._bound)
            if opened is None:
                raise RoundAbortedError(
                    f"The shares of {self._name(site)} were changed, or made for other keys."
                )
            self._held[site] = opened
        self._dealers, self._shared = tuple(d.site for d in dealers), sha256(listed)
        return others

    def _masked(self, others: list[int]) -> bytes:
        contribution, self._contribution = self._contribution, _spent
        vector = contribution()
        if vector.shape != (self._terms.length,):
            raise InvalidParameterError(f"Expected {self._terms.length} numbers, got others.")
        require_within(vector, bound=self._terms.bound)
        total = vector.astype(np.uint64)  # a copy, modulo 2⁶⁴
        key = own_mask_key(self._own_seed, context=self._bound, site=self.site)
        add_mask(total, key=key, sign=1)
        for site in others:
            secret, pair = self._peers[site][1], (self.site, site)
            key = pair_mask_key(secret, context=self._bound, sites=pair)
            add_mask(total, key=key, sign=1 if self.site < site else -1)
        return total.astype("<u8", copy=False).tobytes()

    def _consent(self, body: bytes | memoryview) -> bytes:
        """Sign the one list of survivors."""
        shared, survivors = read_survivors(body)
        require_ascending(survivors, below=len(self._names))
        self._require_enough(survivors)
        if shared != self._shared or not set(survivors) <= set(self._dealers):
            raise RoundAbortedError("The coordinator told of other sites that shared.")
        self._survivors, self._consented = set(survivors), sha256(body)
        return self._consented

    def _unmask(self, body: bytes | memoryview) -> bytes:
        """Give shares, if enough survivors consented to this site's list."""
        consents = self._opened(body, width=CONSENTED, leg=Leg.CONSENT)
        if not set(consents) <= self._survivors:
            raise RoundAbortedError("Somebody consented who did not survive.")
        if any(bytes(consent.body) != self._consented for consent in consents.values()):
            raise RoundAbortedError("Sites were told of different survivors.")
        if len(consents) < self._terms.federation.tolerance.threshold:
            raise RoundAbortedError("Too few survivors consented.")
        return b"".join(
            self._held[site][:SHARE] if site in self._survivors else self._held[site][SHARE:]
            for site in self._dealers
        )

    def _opened(self, body: bytes | memoryview, *, width: int, leg: Leg) -> dict[int, Envelope]:
        """Return the messages of sites that the coordinator passes on."""
        context, federation = self._context, self._terms.federation
        found = [
            opened_wire(part, context=context, federation=federation)
            for part in equal_parts(body, width=width)
        ]
        require_ascending([each.sender for each in found], below=len(self._names))
        if any(each.leg is not leg or each.recipient != COORDINATOR for each in found):
            raise MessageRefusedError("A message that was passed on is of another step.")
        for each in found:
            require_octets(each.body, size=width - FRAME)
        return {each.sender: each for each in found}

    def _require_enough(self, sites: Collection[int]) -> None:
        if self.site not in sites:
            raise RoundAbortedError("This site was left out.")
        if len(sites) < (least := self._terms.federation.tolerance.least_alive):
            raise RoundAbortedError(f"Only {len(sites)} sites are alive, fewer than {least}.")

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self._terms.federation.sites)

    def _name(self, site: int) -> str:
        return f"Site {self._names[site]!r}"


def _spent() -> NDArray[np.int64]:
    raise RoundAbortedError("The vector of this site was asked for before.")

"""The book: what the rows of the chain add up to.

A pure fold: the same rows give the same book in every process.  Writers look at it to decide, and
the database's own counters, which are kept beside it, must say the same.  A row that the rules do
not allow, such as a charge past its cap or an answer nobody was reading for, freezes the ledger.

*Privacy:* spent only grows, except that a request under which nothing was read may be cancelled.
Terms may be replaced while nothing was ever charged under them, and never after.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from confide.budget.accounts.account import Account
from confide.budget.accounts.account_record import caps_of, charges_json
from confide.budget.accounts.awaited import Awaited, require_word
from confide.budget.accounts.file_caps import is_raised
from confide.budget.accounts.growths import Growths
from confide.budget.accounts.held import Held, Requests, entry_of, key_of
from confide.budget.accounts.lost_lineages import LostLineage, go_on_without
from confide.budget.chain.chain import GENESIS, Event, check_link
from confide.budget.chain.consent_rows import ConsentRows
from confide.budget.chain.identity import Identity
from confide.budget.chain.key_history import KeyHistory
from confide.budget.chain.ledger_time import end_of_day
from confide.budget.chain.readings import Moment, Readings, moment_of
from confide.budget.chain.signatures import Require, at_once
from confide.budget.entry import COUNTS_FROM, FORWARD, OVER, entry_with, follows_reading
from confide.budget.ledger import Entry, Head, LedgerTerms, State
from confide.budget.policy.adoption import Adopted, adopted_of
from confide.budget.policy.counters import ROLLING
from confide.budget.policy.policy import Policy
from confide.budget.workflow.acts import whose_word
from confide.budget.workflow.adopting import Problem, adoption_problem, awaited_problem
from confide.budget.workflow.docket import Docket
from confide.budget.workflow.rules import PolicyClaim, Refused, audience_of, claim_of
from confide.errors import LedgerFrozenError, UnknownNameError
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import measure_of
from confide.privacy.unit import Entity

_TOO_MUCH = (OverflowError, RecursionError)  # numbers without end, lists without end


@dataclass(slots=True)
class Book:
    """The ledger so far; the one mutable thing in this package."""

    number: int = 0
    hash: str = GENESIS
    at: str = ""
    kind: str = ""
    lineage: str = ""
    accepted: int = 0
    accounts: dict[str, Account] = field(default_factory=dict)
    requests: Requests = field(default_factory=Requests)
    open: set[int] = field(default_factory=set)
    trail: dict[int, str] = field(default_factory=dict)
    growths: Growths = field(default_factory=Growths)
    docket: Docket = field(default_factory=Docket)
    signing: KeyHistory = field(default_factory=KeyHistory)
    identity: Identity = field(default_factory=Identity)
    readings: Readings = field(default_factory=Readings)
    consent: ConsentRows = field(default_factory=ConsentRows)
    lost: dict[str, LostLineage] = field(default_factory=dict)

    def head(self) -> Head:
        """Return the last row."""
        return Head(number=self.number, hash=self.hash)

    def account(self, lineage: str) -> Account:
        """Return a registered lineage, or refuse an unknown one."""
        if lineage not in self.accounts:
            raise UnknownNameError("lineage", lineage, known=self.accounts)
        return self.accounts[lineage]

    def spent(self, lineage: str) -> dict[str, int]:
        """Return grid units by scope."""
        if lineage not in self.accounts:
            return {}
        return {name: c.spent for name, c in self.accounts[lineage].counters.items()}

    def touched(self, lineage: str) -> dict[str, int]:
        """Return grid units by scope: those on everybody, and what the last row changed."""
        return self.accounts[lineage].touched_spent() if lineage in self.accounts else {}

    def is_charged(self, lineage: str) -> bool:
        """Return whether anything was ever charged to a lineage, given back or not."""
        charged = lineage in self.accounts and self.accounts[lineage].charged
        return charged or any(self.spent(lineage).values())

    def follow(self, event: Event, *, require: Require = at_once) -> None:
        """Take in the next row.

        Args:
            event: The row.
            require: Checks a person's signature; nothing may come of the book before it has.

        Raises:
            LedgerFrozenError: If it is not the next row, or the rules do not allow it.
        """
        for account in self.accounts.values():
            account.touched.clear()
        try:
            fields = check_link(event, number=self.number + 1, previous=self.hash)
            self.identity = self.identity.following(fields)
            now = moment_of(fields, last=self.at, readings=self.readings)
            self._apply(fields, event, now=now, require=require)
        except (LookupError, ValueError, TypeError, AttributeError, *_TOO_MUCH) as error:
            raise LedgerFrozenError(f"Row {event.number} of the ledger makes no sense.") from error
        self.number, self.hash, self.at = event.number, event.hash, fields["at"]
        self.kind, self.trail[event.number] = fields["kind"], event.hash
        by_day = follows_reading(self.kind, fields)
        self.readings.add(event.number, end_of_day(now.reading) if by_day else now.reading)

    def _apply(
        self, fields: Mapping[str, Any], event: Event, *, now: Moment, require: Require
    ) -> None:
        self.lineage = fields.get("lineage", "")
        require_word(fields, event, policies=self.policies, awaited=self.awaited)
        match fields["kind"]:
            case "registered":
                self._register(fields)
            case "caps-amended":
                self._amend(fields)
            case "year-opened" | "day-confirmed":
                self._tell_time(fields, event)
            case "policy-adopted":
                self._adopt(fields, event, now=now)
            case "policy-endorsed" | "submitted" | "decided" | "withheld":
                self._decide(fields, event, now=now, require=require)
            case "reserved" | "refused":
                self._request(fields, event, now=now)
            case "reading" | "cancelled" | "committed" | "burned" | "published":
                self._move(fields)
            case "unfrozen":
                self._go_on(fields, event)
            case "patient-shown":
                pass  # who looked at whose spends, and why
            case "consent-withdrawn" | "consent-lists-lost":
                self.account(self.lineage)
                self.consent.take(fields, number=event.number, under_way=self.open)
            case "key-rotated":
                self.signing = self.signing.rotated(fields, event)
            case kind:
                raise LedgerFrozenError(f"Row {event.number} of the ledger is of kind {kind!r}.")

    def policies(self, kind: str = "", lineage: str = "") -> tuple[Policy, ...]:
        """Return the policies in force that name people, and whose word a row of a kind takes."""
        found = {name: each.in_force for name, each in self.accounts.items()}
        return whose_word(kind, lineage, policies=found)

    def awaited(self) -> dict[str, Awaited]:
        """Return what each lineage waits for since rows were lost."""
        lost = {name: each.awaited for name, each in self.lost.items()}
        return lost | {name: each.awaited for name, each in self.accounts.items()}

    def _register(self, fields: Mapping[str, Any]) -> None:
        known = self.accounts.get(self.lineage)
        if self.is_charged(self.lineage) or (known is not None and known.policy is not None):
            raise LedgerFrozenError(f"Lineage {self.lineage!r} got other terms after others held.")
        terms = LedgerTerms(
            lineage=self.lineage,
            unit=Entity(fields["unit"]),
            adjacency=Adjacency(fields["adjacency"]),
            measure=measure_of(fields["measure"]),
            caps=caps_of(fields["caps"]),
        )
        account = self.accounts.setdefault(self.lineage, Account(terms=terms, year=0))
        account.open_year(int(fields["year"]))
        if self.lineage in self.lost:
            self.lost.pop(self.lineage).begin(account)
        account.set_terms(terms)

    def _amend(self, fields: Mapping[str, Any]) -> None:
        account = self.accounts[self.lineage]
        caps = caps_of(fields["caps"])
        if caps is None or account.policy is not None:
            raise LedgerFrozenError("Caps were amended that a policy holds.")
        if is_raised(account.terms.caps, caps) and not fields["reason"].strip():
            raise LedgerFrozenError("A cap was raised without a reason.")
        account.set_terms(replace(account.terms, caps=caps))

    def _tell_time(self, fields: Mapping[str, Any], event: Event) -> None:
        """Take in what an officer says of the date; rolling windows let go on confirmed days."""
        account = self.accounts[self.lineage]
        if fields["kind"] == "year-opened":
            account.open_year(int(fields["year"]))
            return
        if fields["day"] > fields["at"][:10] or not fields["reason"].strip():
            raise LedgerFrozenError(f"Row {event.number} confirms a day that is not.")
        account.confirm(fields["day"])

    def _adopt(self, fields: Mapping[str, Any], event: Event, *, now: Moment) -> None:
        account, new = self.accounts[self.lineage], adopted_of(fields)
        found = self.adoption_problem(account, new, reason=fields["reason"], now=now)
        terms, policy = account.terms, new.policy
        same = (terms.unit, terms.adjacency) == (policy.unit, policy.adjacency)
        if found or not same or not policy.counts_in(terms.measure):
            raise LedgerFrozenError(f"Row {event.number} adopts a policy that it may not.")
        if fields["at"][:10] < policy.effective:
            raise LedgerFrozenError(f"Row {event.number} adopts a policy before its day.")
        account.adopt(new)
        self.docket.forget_endorsements(self.lineage)

    def adoption_problem(
        self, account: Account, new: Adopted, *, reason: str, now: Moment
    ) -> Problem | None:
        """Return why a policy cannot be adopted for a lineage now; None if it can."""
        present, lineage = account.policy or new, account.terms.lineage
        days = present.policy.workflow.expires_after_days
        return awaited_problem(account.awaited.versions, new) or adoption_problem(
            account.policy,
            new,
            caps=account.caps,
            measure=account.terms.measure,
            reason=reason,
            returns=account.awaited.free and account.awaited.holds(new.digest),
            endorsed=self.docket.endorsers(lineage, policy=new.digest, days=days, now=now),
            askers=self.docket.askers(
                lineage, adopted=account.policy, charged_under=self.charged_under, now=now
            ),
        )

    def _decide(
        self, fields: Mapping[str, Any], event: Event, *, now: Moment, require: Require
    ) -> None:
        """Take in what somebody asked, decided, or signed."""
        adopted, number = self.accounts[self.lineage].policy, event.number
        if adopted is None:
            raise LedgerFrozenError(f"Row {number} decides without a policy.")
        said: dict[str, Any] = {"number": number, "adopted": adopted, "require": require}
        match fields["kind"]:
            case "policy-endorsed":
                self.docket.endorse(fields, event, adopted=adopted, now=now)
            case "submitted":
                self.docket.submit(fields, digest=event.hash, **said)
            case "decided":
                entry = self.charged_under(int(fields["request"]))
                self.docket.decide(fields, entry=entry, now=now, **said)
            case _:
                held = self.requests[int(fields["entry"])]
                if held.entry.lineage != self.lineage or not held.entry.payload_sha256:
                    raise LedgerFrozenError(f"Row {number} withholds what there is not.")
                self.docket.withhold(fields, entry=held.entry, now=now, **said)
                entry = entry_with(held.entry, withheld=True)
                self.requests[entry.number] = Held(entry, held.owner, held.when, held.events_json)
                self.growths.withhold(entry)

    def charged_under(self, number: int) -> Entry | None:
        """Return the entry that was charged under a request, unless it was given back."""
        charged = self.docket.submissions[number].entry
        entry = self.requests.get(charged) if charged else None
        if entry is None or entry.entry.state is State.CANCELLED:
            return None
        return entry.entry

    def admit(self, claim: PolicyClaim, *, lineage: str, now: Moment) -> int | Refused:
        """Return the request that admits a charge, 0 where none is needed, or why it is refused."""
        return self.docket.admit(
            claim,
            lineage=lineage,
            adopted=self.account(lineage).policy,
            charged_under=self.charged_under,
            now=now,
        )

    def _request(self, fields: Mapping[str, Any], event: Event, *, now: Moment) -> None:
        account = self.accounts[self.lineage]
        granted, year = fields["kind"] == "reserved", int(fields["year"])
        when = account.occasion(
            year=year, analyst=fields["analyst"], project=fields.get("project", "")
        )
        entry = entry_of(
            fields,
            event,
            measure=account.terms.measure,
            policy="" if account.policy is None else account.policy.digest,
            ledger=self.identity.ledger,
            state=State.RESERVED if granted else State.REFUSED,
        )
        if granted:
            if year != account.year and account.has_year_caps:
                raise LedgerFrozenError(f"Row {event.number} charges a year that was not opened.")
            self._admit(entry, fields, now=now)
            account.open_year(year, vouched=False)
            charges = account.charges(entry.amount, when=when)
            if charges_json(charges) != fields["charges"]:
                raise LedgerFrozenError(f"The charges of row {event.number} do not add up.")
            entry = entry_with(entry, charges=charges)
            self._grant(entry)
            over = "" if entry.continues is None else self.window_over(entry.continues)
            self.growths.begin(entry, over=over)
            account.add(entry.amount, when=when)
            account.charged = True
            self.open.add(entry.number)
        self.requests[event.number] = Held(entry, fields["owner"], when, fields["events"])

    def _admit(self, entry: Entry, fields: Mapping[str, Any], *, now: Moment) -> None:
        """Refuse a charge under no cap, or without the approvals that its tier needs."""
        account = self.accounts[entry.lineage]
        if account.is_stopped:
            raise LedgerFrozenError(f"Row {entry.number} charges a lineage without its caps.")
        said = {"planned": fields.get("planned", ""), "audience": audience_of(fields["plan"])}
        if entry.continues is None:
            claim = claim_of(entry, **said)
            if self.admit(claim, lineage=entry.lineage, now=now) != entry.submission:
                raise LedgerFrozenError(f"Row {entry.number} was not approved.")
        self.docket.charge(entry.submission, entry=entry.number)

    def _grant(self, entry: Entry) -> None:
        taken = self.requests.answered(key_of(entry))
        if taken is not None and self.requests[taken].entry.state not in OVER:
            raise LedgerFrozenError(f"Row {entry.number} charges a key that has an answer.")
        if any(charge.after > charge.cap for charge in entry.charges):
            raise LedgerFrozenError(f"Row {entry.number} passes a cap.")
        self.requests.answer(key_of(entry), number=entry.number)

    def _count_anew(self, number: int) -> None:
        """Count a charge from now on: patients are read, or something is published, under it."""
        held = self.requests[number]
        if held.entry.state is State.CANCELLED:
            return
        account = self.accounts[held.entry.lineage]
        when = account.count_anew(held.entry.amount, when=held.when)
        self.requests[number] = Held(held.entry, held.owner, when, held.events_json)

    def window_over(self, number: int) -> str:
        """Return a window of the caps in force in which a charge counts no more, or ""."""
        held = self.requests[number]
        return self.accounts[held.entry.lineage].window_over(held.when)

    def is_withheld(self, entry: Entry) -> bool:
        """Return whether an answer is withheld, or repeats the periods of one that is."""
        return self.growths.is_withheld(entry)

    def _move(self, fields: Mapping[str, Any]) -> None:
        number = int(fields["entry"])
        held = self.requests[number]
        before, after = FORWARD[fields["kind"]]
        if held.entry.state is not before or held.entry.withheld:
            raise LedgerFrozenError(
                f"Entry {number} cannot go from {held.entry.state.value} to {after.value}."
            )
        paid = held.entry.continues or number
        if after is State.READING and self.window_over(paid) == ROLLING:
            raise LedgerFrozenError(f"Entry {number} is read when its charge counts no more.")
        if after in COUNTS_FROM:
            self._count_anew(paid)
        if after is State.CANCELLED:
            self.accounts[held.entry.lineage].add(held.entry.amount, when=held.when, sign=-1)
        self._set(
            number,
            state=after,
            payload_sha256=fields.get("sha256", held.entry.payload_sha256),
            members=fields.get("members", held.entry.members),
        )

    def _go_on(self, fields: Mapping[str, Any], event: Event) -> None:
        """Take in that an officer went on: what lost rows may have answered is burned."""
        self.consent.take(fields, number=event.number, under_way=self.open)
        if [int(number) for number in fields["burned"]] != sorted(self.open):
            raise LedgerFrozenError(f"Row {event.number} goes on with requests under way.")
        shown = {*self.growths.that_may_grow(), *self.open}
        for number in sorted(self.open):
            self._set(number, state=State.BURNED)
        go_on_without(fields, accounts=self.accounts, lost=self.lost)
        for number in shown:  # lost rows may have published under it
            self._count_anew(number)
        self.growths.end_all()
        if fields.get("approvals"):  # rows may be lost that withdrew one
            self.readings.lapsed = event.number
            self.docket.endorsed.clear()
        self.accepted = event.number
        self.signing = self.signing.accepted(event.number, key=fields.get("key", ""))

    def _set(self, number: int, **changes: Any) -> None:
        """Change what is known of a request."""
        held = self.requests[number]
        entry = entry_with(held.entry, **changes)
        self.requests[number] = Held(entry, held.owner, held.when, held.events_json)
        if entry.state not in {State.RESERVED, State.READING}:
            self.open.discard(number)
        self.growths.follow(entry)

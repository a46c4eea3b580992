"""What every engine must do; an implementation subclasses this and says how to open itself."""

import numpy as np
import pyarrow as pa
import pytest

from confide.errors import ContractError, InvalidParameterError, UnknownNameError
from confide.privacy.unit import Entity
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.value import CentredSquare, Plain
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import Between
from confide.tables.per_patient import AtEnd, DaysBetween, HasAny, Which
from confide.tables.relation import Relation
from reference_engine import Reference
from rows_world import (
    DB,
    KEY,
    Database,
    ask,
    col,
    dataset,
    menu,
    random_database,
    val,
)


def exact(engine, aggregates, of):
    return engine.aggregate(tuple(aggregates), dataset=of).reveal_to_gate()


def plus(one, other):
    """Add two answers cell by cell, or key by key."""
    if isinstance(one, tuple):
        return tuple(a + b for a, b in zip(one, other, strict=True))
    return {key: one.get(key, 0) + other.get(key, 0) for key in one | other}


def patients_of(database: Database, keep) -> Database:
    """The same database with only some patients, by a function of their normal id."""
    frames = {}
    for name, table in database.frames.items():
        ids = table.column("pid").to_pylist()
        frames[name] = table.filter(pa.array([keep(i) for i in ids]))
    return Database(frames=frames)


class EngineContract:
    """Subclasses give ``open(database, of=dataset, **options)``, a context manager."""

    seeds = (1,)
    text_ids = (False, True)
    reference_ids_as_text = False
    stride = 1

    def reference(self, database, of, flaw=""):
        rows = database.rows
        if self.reference_ids_as_text:
            for row in (row for table in rows.values() for row in table):
                row["pid"] = None if row["pid"] is None else str(row["pid"])
        return Reference(of, rows, KEY, flaw=flaw)

    def test_agrees_with_the_algebra_in_plain_python(self):
        of = dataset()
        for seed in self.seeds:
            for text_ids in self.text_ids:
                # ids are read before anything is asked, so a fifth of the menu is enough of texts
                asked = menu()[:: max(5, self.stride) if text_ids else self.stride]
                database = self.adapted(random_database(seed, text_ids=text_ids))
                with self.open(database, of=of) as engine:
                    got = exact(engine, asked, of)
                expected = self.reference(database, of).aggregate(asked)
                for position, (one, other) in enumerate(zip(got, expected, strict=True)):
                    assert one == other, (seed, text_ids, position)

    @pytest.mark.audit
    def test_agrees_with_the_algebra_on_twenty_thousand_databases(self):
        of, asked = dataset(), menu()
        for seed in range(100, 140):
            database = self.adapted(random_database(seed, text_ids=seed % 2 == 0))
            with self.open(database, of=of) as engine:
                got = exact(engine, asked, of)
            assert got == self.reference(database, of).aggregate(asked), seed

    def adapted(self, database: Database) -> Database:
        return database

    def test_check_accepts_what_aggregate_answers(self):
        of = dataset()
        with self.open(self.adapted(random_database(7)), of=of) as engine:
            assert engine.check(menu()[::3], dataset=of) is None

    def test_a_missing_table_or_column_is_refused_by_name_before_reading(self):
        whole = self.adapted(random_database(3))
        asked = (ask(axes=[col("code")]),)
        without = Database(frames={**whole.frames, "events": whole.frames["events"].drop(["code"])})
        with (
            self.open(without, of=dataset()) as engine,
            pytest.raises(ContractError, match=r"'code' of table 'events'"),
        ):
            engine.check(asked, dataset=dataset())
        with self.open(Database(frames={"person": whole.frames["person"]}), of=dataset()) as engine:
            with pytest.raises(ContractError, match=r"Table 'events'"):
                engine.check(asked, dataset=dataset())
            assert set(engine.problems()) == {"events", "coded"}

    def test_a_missing_id_column_is_refused_by_name(self):
        whole = self.adapted(random_database(3))
        frames = {**whole.frames, "events": whole.frames["events"].drop(["pid"])}
        with (
            self.open(Database(frames=frames), of=dataset()) as engine,
            pytest.raises(ContractError, match=r"'events' has no id column 'pid'"),
        ):
            engine.check((ask(),), dataset=dataset())

    def test_a_join_that_could_multiply_rows_is_refused(self):
        with (
            self.open(self.adapted(random_database(3)), of=dataset()) as engine,
            pytest.raises(ContractError, match="several rows per patient"),
        ):
            engine.check((ask("person", axes=[col("code")]),), dataset=dataset())

    def test_another_data_set_than_the_opened_one_is_refused(self):
        with (
            self.open(self.adapted(random_database(3)), of=dataset()) as engine,
            pytest.raises(ContractError, match="another data set"),
        ):
            engine.check((ask(),), dataset=dataset(snapshot="2"))

    def test_answers_add_up_over_patients_so_nobody_moves_another_patients_rows(self):
        of, database = dataset(), self.adapted(random_database(11))
        asked = [*menu()[:4], *menu()[-6:]]
        halves = [
            patients_of(database, lambda i, h=h: i is not None and hash(str(i)) % 2 == h)
            for h in (0, 1)
        ]
        answers = []
        for part in (database, *halves):
            with self.open(part, of=of) as engine:
                answers.append(exact(engine, asked, of))
        for whole, left, right in zip(*answers, strict=True):
            assert whole == plus(left, right)

    def test_row_order_and_threads_change_nothing(self):
        """Each of 500 databases is permuted in each of 6 runs: 3,000 orders."""
        of, database = dataset(), self.adapted(random_database(5))
        asked = [menu()[0], menu()[1], menu()[3], menu()[8], menu()[-9], menu()[-1]]
        rng = np.random.default_rng(0)
        found = set()
        for threads in (1, 2, 4):
            for _ in range(2):
                frames = {
                    name: table.take(pa.array(rng.permutation(table.num_rows)))
                    for name, table in database.frames.items()
                }
                with self.open(Database(frames=frames), of=of, threads=threads) as engine:
                    answers = exact(engine, asked, of)
                found.add(
                    tuple(a if isinstance(a, tuple) else tuple(sorted(a.items())) for a in answers)
                )
        assert len(found) == 1

    def test_a_patient_with_ten_thousand_events_keeps_only_the_bound(self):
        of, whole = dataset(), self.adapted(random_database(2))
        many = whole.frames["events"].slice(0, 1000)
        crowd = pa.concat_tables([many] * 10)
        ids = pa.array(["7"] * 10_000) if self.reference_ids_as_text else pa.array([7] * 10_000)
        crowd = crowd.set_column(crowd.schema.get_field_index("pid"), "pid", ids)
        bounds = [RowBound(max_rows=3), CellBound(max_cells=4, max_rows_per_cell=2)]
        asked = [ask(axes=[DB], bounds=b) for b in bounds]
        with self.open(Database(frames={**whole.frames, "events": crowd}), of=of) as engine:
            rows, cells = exact(engine, asked, of)
        assert sum(rows) == 3
        assert (sum(cells), max(cells)) == (8, 2)

    def test_an_empty_source_counts_zero_everywhere(self):
        of, whole = dataset(), self.adapted(random_database(2))
        empty = Database(frames={name: t.slice(0, 0) for name, t in whole.frames.items()})
        with self.open(empty, of=of) as engine:
            answers = exact(engine, menu()[::4], of)
        assert all(not any(a) if isinstance(a, tuple) else a == {} for a in answers)

    def test_columns_without_any_value_follow_the_null_policy(self):
        of, whole = dataset(), self.adapted(random_database(2))
        frames = dict(whole.frames)
        for name in ("pressure", "strict", "code", "written", "day", "note"):
            table = frames["events"]
            at = table.schema.get_field_index(name)
            nothing = self.nothing(table.num_rows, table.schema.field(name).type)
            frames["events"] = table.set_column(at, name, nothing)
        database = Database(frames=frames)
        with self.open(database, of=of) as engine:
            asked = menu()[::2]
            assert exact(engine, asked, of) == self.reference(database, of).aggregate(asked)

    def nothing(self, rows, kind):
        del kind
        return pa.nulls(rows)

    def test_patients_without_an_id_are_left_out(self):
        of, whole = dataset(), self.adapted(random_database(2))
        frames = {}
        for name, table in whole.frames.items():
            at = table.schema.get_field_index("pid")
            nobody = pa.nulls(table.num_rows, table.schema.field("pid").type)
            frames[name] = table.set_column(at, "pid", nobody)
        with self.open(Database(frames=frames), of=of) as engine:
            asked = (ask(), ask("person"), ask(axes=[col("code")]))
            assert exact(engine, asked, of) == ((0,), (0,), (0, 0, 0, 0, 0))

    def test_sum_and_count_of_the_same_filter_keep_the_same_rows(self):
        """A value that is constant over all rows shows it: sum = value × count in every cell."""
        of, whole = dataset(), self.adapted(random_database(4))
        table = whole.frames["events"]
        at = table.schema.get_field_index("pressure")
        kind = table.schema.field("pressure").type
        half = [55.0 if i % 2 else None for i in range(table.num_rows)]
        column = (
            pa.array([None if h is None else str(h) for h in half])
            if pa.types.is_string(kind)
            else pa.array(half)
        )
        database = Database(
            frames={**whole.frames, "events": table.set_column(at, "pressure", column)}
        )
        known = Between(of=col("pressure"))
        for bounds in (RowBound(max_rows=1), CellBound(max_cells=1, max_rows_per_cell=2)):
            axes = [DB]
            asked = [
                ask(axes=axes, value=Plain(of=col("pressure")), bounds=bounds, where=known),
                ask(axes=axes, bounds=bounds, where=known),
            ]
            with self.open(database, of=of) as engine:
                total, count = exact(engine, asked, of)
            assert sum(count) > 100
            assert total == tuple(550 * n for n in count)

    def test_sums_that_could_overflow_are_refused(self):
        of = dataset(population_at_most=10**12)
        wide = ask(value=CentredSquare(of=col("big")), bounds=RowBound(max_rows=10**9))
        with (
            self.open(self.adapted(random_database(2)), of=of) as engine,
            pytest.raises(InvalidParameterError, match="could overflow"),
        ):
            engine.check((wide,), dataset=of)

    def test_with_the_event_as_unit_every_row_counts_and_no_id_is_read(self):
        of = dataset(entity=Entity.EVENT, per_patient=())
        whole = self.adapted(random_database(6))
        events = whole.frames["events"].drop(["pid"])
        with self.open(Database(frames={"events": events}), of=of) as engine:
            (count,) = exact(engine, [ask(bounds=OneEvent())], of)
            with pytest.raises(ContractError, match="suit the privacy unit"):
                engine.check((ask(),), dataset=of)
        assert count == (events.num_rows,)

    def test_key_selection_refuses_bounds_other_than_keys(self):
        keyed = KeyedAggregate(
            relation=Relation(table="events"), key=col("note"), bounds=RowBound(max_rows=3)
        )
        with (
            self.open(self.adapted(random_database(2)), of=dataset()) as engine,
            pytest.raises(ContractError, match="most number of keys"),
        ):
            engine.check((keyed,), dataset=dataset())

    def test_values_defined_by_themselves_are_refused(self):
        def at(name, before):
            return AtEnd(
                name=name, which=Which.FIRST, table="events", column="day", by="day",
                where=Between(of=col("day")), before=before,
            )  # fmt: skip

        of = dataset(per_patient=(at("a", "b"), at("b", "a")))
        with (
            self.open(self.adapted(random_database(2)), of=of) as engine,
            pytest.raises(ContractError, match="defined by itself"),
        ):
            engine.check((ask(where=Between(of=val("a"))),), dataset=of)

    def test_days_between_values_that_are_no_dates_are_refused(self):
        odd = (
            HasAny(name="any", table="events", where=Between(of=col("day"))),
            DaysBetween(name="odd", start="any", end="any", lower=0, upper=1),
        )
        of = dataset(per_patient=odd)
        with (
            self.open(self.adapted(random_database(2)), of=of) as engine,
            pytest.raises(ContractError, match="not a date"),
        ):
            engine.check((ask(value=Plain(of=val("odd"))),), dataset=of)

    def test_undeclared_names_are_refused(self):
        asked = (ask(axes=[ColumnOf(table="events", column="cod")]),)
        with (
            self.open(self.adapted(random_database(2)), of=dataset()) as engine,
            pytest.raises(UnknownNameError),
        ):
            engine.check(asked, dataset=dataset())

    def test_the_answer_is_secret(self):
        of = dataset()
        with self.open(self.adapted(random_database(2)), of=of) as engine:
            answer = engine.aggregate((ask(),), dataset=of)
        assert (repr(answer), f"{answer}") == ("<secret>", "<secret>")

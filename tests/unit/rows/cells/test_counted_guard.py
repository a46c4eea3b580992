"""Kept rows are named once where an engine works them out anew each time that they are named."""

from confide.rows.engines.duckdb import open_engine
from confide.rows.relational.sql import WrittenPass, one_pass
from confide.tables.source import Source, SourceKind
from rows_world import KEY, dataset, menu, random_database


def test_kept_rows_that_are_named_once_give_the_integers_of_rows_named_twice(tmp_path):
    of, asked, source = dataset(), menu()[::3], Source(kind=SourceKind.FRAMES)
    frames = random_database(5, text_ids=True).frames
    with open_engine(
        source, base=tmp_path, dataset=of, hash_key=KEY, frames=frames, threads=1
    ) as engine:
        found = [
            WrittenPass.of(
                one_pass(asked, dataset=of, layout=engine._layout, streams=False, stores=stores),
                on=engine._session,
            )
            for stores in (True, False)
        ]
        twice, once = (each.exact(engine._session) for each in found)
    assert once == twice
    assert any(any(cells) for cells in once.values() if isinstance(cells, tuple))
    assert not any('"kept"' in step.sql for step in found[1].steps)

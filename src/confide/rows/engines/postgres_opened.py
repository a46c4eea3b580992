"""A declared database that is connected: its session, and where its tables lie.

*Privacy:* opening reads the catalogue and no rows.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confide.errors import ContractError
from confide.rows.cells.identity import identity_parameters
from confide.rows.cells.keyed_order import coefficients
from confide.rows.cells.layout import Layout
from confide.rows.cells.session import Parameter
from confide.rows.engines.postgres_catalogue import database_layout
from confide.rows.engines.postgres_session import DatabaseSession, connect, dropping_server_messages
from confide.rows.sources.omop import refuse_blocked
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDatabase:
    """A connection to a declared database.

    Attributes:
        connection: With its settings made.
        session: The same, with the parameters that queries may bind.
        parameters: By name.
        layout: Where the tables lay when it was opened.
        catalogue: Reads where they lie now.
    """

    connection: Any
    session: DatabaseSession
    parameters: Mapping[str, Parameter]
    layout: Layout
    catalogue: Callable[[], Layout]


def connected_database(
    source: Source,
    *,
    dataset: Dataset,
    hash_key: bytes,
    withdrawn: Sequence[str] = (),
    role: str = "",
) -> OpenDatabase:
    """Connect to a declared database.

    Args:
        source: What is declared.
        dataset: Public facts.
        hash_key: Secret key of the order in which a patient's rows are kept, 16 bytes or more.
        withdrawn: Keyed hashes, 32 hexadecimal digits each, of persons who withdrew consent.
        role: Who connects, in place of whom the URL or PGUSER names.

    Raises:
        ContractError: If the database cannot be reached, is too old, or a table asks for what no
            database has.
        MissingExtraError: If psycopg is not installed.
    """
    parameters: dict[str, Parameter] = {
        **coefficients(hash_key),
        **identity_parameters(hash_key, of=dataset.unit.entity),
    }
    omop = source.kind is SourceKind.OMOP
    if omop:
        refuse_blocked(dataset)
    with contextlib.ExitStack() as undo:
        connection = connect(source.url, role=role)
        undo.callback(connection.close)
        session = DatabaseSession(connection, parameters=parameters)
        layout: Layout | None = None

        def catalogue() -> Layout:
            return database_layout(
                connection,
                dataset=dataset,
                schema=source.schema,
                fold_case=omop,
                withdrawn=bool(withdrawn),
            )

        with dropping_server_messages() as failed:
            layout = catalogue()
        if layout is None:
            raise ContractError(
                f"The catalogue of the source's PostgreSQL cannot be read ({failed[0]}).",
                hint="The server may have ended the session; try again.",
            )
        if withdrawn:
            session.list_withdrawn(withdrawn)
        undo.pop_all()
    return OpenDatabase(
        connection=connection,
        session=session,
        parameters=parameters,
        layout=layout,
        catalogue=catalogue,
    )

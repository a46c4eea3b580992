"""The settings of a DuckDB connection that can read the declared source and nothing else.

*Privacy:* no file but the declared ones and a temporary folder, no network, no extensions, no
Python variables; the last setting locks the others.
"""

from collections.abc import Iterable
from pathlib import Path

from sqlglot import exp

from confide.rows.cells.build import num

ATTACHED = "source"


def hardening(
    allowed: Iterable[Path],
    *,
    temporary: Path,
    threads: int | None,
    memory_limit: str | None,
    writing: Path | None = None,
) -> tuple[exp.Set, ...]:
    """Return the settings of a connection, in order; the last one locks them.

    Args:
        allowed: The only files that it may open.
        temporary: Folder for what does not fit into memory.
        threads: Threads; all by default.
        memory_limit: Of the engine.
        writing: Folder that it may write to.
    """
    # disabled_filesystems is left alone: it would block Parquet and spilling to disk
    files = exp.array(*(exp.Literal.string(str(path)) for path in allowed))
    folders = [temporary] if writing is None else [temporary, writing]
    wanted: dict[str, exp.Expr] = {
        "temp_directory": exp.Literal.string(str(temporary)),
        "preserve_insertion_order": exp.true(),  # a stream comes in the order it was sorted
        "TimeZone": exp.Literal.string("UTC"),  # the date of a timestamp with a time zone
    }
    if threads is not None:
        wanted["threads"] = num(threads)
    if memory_limit is not None:
        wanted["memory_limit"] = exp.Literal.string(memory_limit)
    wanted |= {
        "allowed_paths": files,
        "allowed_directories": exp.array(*(exp.Literal.string(str(folder)) for folder in folders)),
        "enable_external_access": exp.false(),
        "autoload_known_extensions": exp.false(),
        "autoinstall_known_extensions": exp.false(),
        "allow_community_extensions": exp.false(),
        "python_enable_replacements": exp.false(),
        "lock_configuration": exp.true(),
    }
    return tuple(
        exp.Set(expressions=[exp.SetItem(this=exp.EQ(this=exp.var(name), expression=value))])
        for name, value in wanted.items()
    )


def attach(path: Path) -> exp.Attach:
    """Return ATTACH of a database file, read-only."""
    name = exp.alias_(exp.Literal.string(str(path)), ATTACHED, quoted=True)
    return exp.Attach(this=name, expressions=[exp.AttachOption(this=exp.var("READ_ONLY"))])

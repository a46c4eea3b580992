"""Files that Confide opens: regular ones of a bounded size, and never one that makes it wait.

Opening a named pipe waits for its other end, reading a device may never end, and opening a tape
rewinds it.  So a path is looked at before it is opened, opened without waiting, and looked at again
once it is open; what is no regular file is refused.  Symbolic links are followed, because stewards
keep data behind them, but not in a folder that other users may write to.

Every other room opens files by these functions alone (tests/architecture/test_regular_files.py).
"""

import errno
import importlib.util
import io
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from confide.errors import NotAFileError, UnsupportedError

LARGEST = 256 * 2**20
"""Bytes of the largest text or certificate that is read as a whole."""

_FLAGS = ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")  # Windows has the last alone
_UNFINISHED, _CLEARING = ".part", "empty.lock"
_NEVER_WAITING = sum(getattr(os, flag, 0) for flag in _FLAGS)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a symbolic link"),
)


def require_posix() -> None:
    """Refuse to go on where files cannot be locked, owned and opened as ledger and keys ask for.

    Raises:
        UnsupportedError: On Windows.
    """
    if importlib.util.find_spec("fcntl") is None:
        raise UnsupportedError(
            "Confide needs the locks and owners of files that Linux and macOS have, and this "
            "system has none.",
            hint="Run it on Linux, on macOS or in WSL 2. `confide verify` works here too.",
        )


def require_regular(path: Path) -> os.stat_result:
    """Return what is known of a regular file, for whatever opens it by its name afterwards.

    Raises:
        NotAFileError: If it is a folder, pipe, socket or device.
        OSError: If it is missing or cannot be looked at.
    """
    status = path.stat()
    _refuse(status, name=path.name)
    return status


def descriptor(path: Path, flags: int = os.O_RDONLY, *, shared_folder: int | None = None) -> int:
    """Return the descriptor of a regular file; one that is made has mode 0600.

    Args:
        path: The file.
        flags: As of ``os.open``; ``O_TRUNC`` takes effect once the file is known to be regular.
        shared_folder: Descriptor of its folder where other users may write: ``path`` is then a name
            in that folder, and a symbolic link is not followed.

    Raises:
        NotAFileError: If it is a folder, pipe, socket or device.
        OSError: If it is missing or cannot be opened.
    """
    follow = shared_folder is None
    flags |= _NEVER_WAITING | (0 if follow else os.O_NOFOLLOW)
    try:
        _refuse(os.stat(path, dir_fd=shared_folder, follow_symlinks=follow), name=path.name)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    file = os.open(path, flags & ~os.O_TRUNC, 0o600, dir_fd=shared_folder)
    try:
        _refuse(os.fstat(file), name=path.name)
        if flags & os.O_TRUNC:
            os.ftruncate(file, 0)
    except BaseException:
        os.close(file)
        raise
    return file


@contextmanager
def shared_folder(path: Path) -> Iterator[int]:
    """Give the descriptor of a folder of this user's own that lies among those of others.

    Raises:
        OSError: If it is no folder, a symbolic link to one, or another user's.
    """
    with folder_of_others(path) as folder:
        if os.fstat(folder).st_uid != os.geteuid():
            raise NotAFileError(f"{path.name} belongs to another user.")
        yield folder


@contextmanager
def folder_of_others(path: Path) -> Iterator[int]:
    """Give the descriptor of a folder that somebody else may own and fill.

    Raises:
        OSError: If it is no folder, or a symbolic link to one.
    """
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | _NEVER_WAITING)
    try:
        yield folder
    finally:
        os.close(folder)


@contextmanager
def folder_within(root: Path, *names: str) -> Iterator[int]:
    """Give the descriptor of a folder of others in a folder: one name for each step, none a link.

    Raises:
        OSError: If one of them is no folder, or a symbolic link to one.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | _NEVER_WAITING
    folder = os.open(root, flags)
    try:
        for name in names:
            below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def made_within(root: Path, *names: str) -> Path:
    """Return a folder in a folder, made where it is not there; no step of it is a link.

    Raises:
        OSError: If it cannot be made, or a symbolic link stands in the place of a step.
    """
    path = root
    for name in names:
        path /= name
        path.mkdir(exist_ok=True)
        with folder_of_others(path):
            pass
    return path


def read_beside(name: str, *, folder: int, largest: int) -> bytes:
    """Return the content of a regular file in such a folder; no symbolic link is followed.

    Raises:
        NotAFileError: If it is no regular file, or holds more than ``largest`` bytes.
        OSError: If it is missing or cannot be read.
    """
    with os.fdopen(descriptor(Path(name), shared_folder=folder), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        _refuse_size(size, name=name, largest=largest)
        content = file.read(size + 1)  # as much is set aside before it is read
    if len(content) > size:
        raise NotAFileError(f"{name} grew while it was read.")
    return content


@contextmanager
def reading(path: Path) -> Iterator[io.BufferedReader]:
    """Open a regular file of any size to read its bytes."""
    with open(descriptor(path), "rb") as file:
        yield file


@contextmanager
def reading_text(
    path: Path, *, encoding: str = "utf-8", newline: str | None = "", largest: int = LARGEST
) -> Iterator[IO[str]]:
    """Open a regular file of bounded size to read its lines, as the csv module wants them."""
    file = descriptor(path)
    with os.fdopen(file, "r", encoding=encoding, newline=newline) as lines:
        _refuse_size(os.fstat(file).st_size, name=path.name, largest=largest)
        yield lines


def read_bytes(path: Path, *, largest: int | None = LARGEST) -> bytes:
    """Return the content of a regular file.

    Raises:
        NotAFileError: If it is no regular file, or holds more than ``largest`` bytes.
        OSError: If it is missing or cannot be read.
    """
    with reading(path) as file:
        if largest is None:
            return file.read()
        _refuse_size(os.fstat(file.fileno()).st_size, name=path.name, largest=largest)
        content = file.read(largest + 1)  # a file may grow, and some state no size
    _refuse_size(len(content), name=path.name, largest=largest)
    return content


def read_text(path: Path, *, encoding: str = "utf-8", largest: int | None = LARGEST) -> str:
    """Return the text of a regular file, with line ends as they are written on any system."""
    text = read_bytes(path, largest=largest).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file whose content is public, to write it over a regular one if that is there."""
    with os.fdopen(_public(path, os.O_TRUNC), "wb") as file:
        yield file


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whose content is public, over a regular one if that is there."""
    with writing(path) as file:
        file.write(content)


def tell_day_alone(paths: Iterable[Path]) -> None:
    """Date files or folders as of the day on which they are written: UTC, midnight.

    The time of day would tell those who get them how long the patients' rows took to read.
    """
    now = int(time.time())
    day = now - now % 86_400
    for path in paths:
        os.utime(path, (day, day))


def write_text(path: Path, text: str) -> None:
    """Write a file whose text is public, over a regular one if that is there."""
    write_bytes(path, text.encode("utf-8"))


def create_text(path: Path, text: str) -> None:
    """Write a file whose text is public, where nothing stands; whole, or not at all.

    Raises:
        FileExistsError: If anything stands there.
    """
    create_bytes(path, text.encode("utf-8"))


def create_bytes(path: Path, content: bytes) -> None:
    """Write a file whose content is public, where nothing stands; whole, or not at all.

    Raises:
        FileExistsError: If anything stands there.
    """
    _create(path, content, opened=lambda part: _public(part, os.O_EXCL))


def _public(path: Path, flags: int) -> int:
    """Return the descriptor of a file to write, with the rights that the user's mask leaves."""
    is_new = not os.path.lexists(path)
    file = descriptor(path, os.O_WRONLY | os.O_CREAT | flags)
    if is_new:
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(file, 0o666 & ~mask)
    return file


def create_durable(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 where nothing stands; whole and on disk when this returns.

    A kill or a full disk at any byte leaves nothing of that name.

    Raises:
        FileExistsError: If anything stands there.
    """
    _create(path, content, opened=_private)


def is_unfinished(path: Path) -> bool:
    """Return whether a file is left of one that was to be made, or removed: nobody's content."""
    is_part = path.name.startswith(".") and path.name.endswith(_UNFINISHED)
    return is_part or path.name == _CLEARING


def is_written(path: Path) -> bool:
    """Return whether a file is there and not empty: versions before made one, then filled it."""
    try:
        return require_regular(path).st_size > 0
    except FileNotFoundError:
        return False


def clear_empty(path: Path) -> None:
    """Remove a file that is empty: what a kill or a full disk left of one, of a version before."""
    if path.exists() and not is_written(path):
        with locked(path.with_name(_CLEARING)):
            if path.exists() and not is_written(path):
                path.unlink()


def replace_durable(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 in the place of the one of before, if any; as `create_durable`."""
    with _written_beside(path, content, opened=_private) as part:
        part.replace(path)


def _create(path: Path, content: bytes, *, opened: Callable[[Path], int]) -> None:
    _refuse_taken(path)
    with _written_beside(path, content, opened=opened) as part:
        try:
            path.hardlink_to(part)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: of two at once the later one may stand
            _refuse_taken(path)
            part.rename(path)


@contextmanager
def _written_beside(path: Path, content: bytes, *, opened: Callable[[Path], int]) -> Iterator[Path]:
    """Give a file that holds the content on disk and has no name that anybody looks for."""
    part = path.with_name(f".{uuid.uuid4().hex}{_UNFINISHED}")
    file = opened(part)
    try:
        try:
            write_all(file, content)
            os.fsync(file)
        finally:
            os.close(file)
        yield part
    finally:
        part.unlink(missing_ok=True)


def _private(path: Path) -> int:
    return descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)


def _refuse_taken(path: Path) -> None:
    if path.exists():
        require_regular(path)
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time in, by a file of its own; a killed one lets go."""
    import fcntl  # which not every system has that reads files

    file = descriptor(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def write_all(file: int, content: bytes | memoryview) -> None:
    """Write every byte to a descriptor: one call may write fewer where a disk is nearly full."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _NEVER_WAITING)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def own_text(package: str, name: str) -> str:
    """Return a text that is part of this program."""
    from importlib import resources

    place: Any = resources.files(package)
    return str(place.joinpath(*name.split("/")).read_text("utf-8"))


def _refuse(status: os.stat_result, *, name: str) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    kind = next((word for asks, word in _KINDS if asks(status.st_mode)), "something else")
    raise NotAFileError(f"{name} is {kind}, where a file is needed.", hint="Name a regular file.")


def _refuse_size(size: int, *, name: str, largest: int) -> None:
    if size > largest:
        most = f"{largest >> 20} MB" if largest >= 2**20 else f"{largest >> 10} kB"
        raise NotAFileError(f"{name} is larger than {most}.")

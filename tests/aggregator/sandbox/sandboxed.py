"""What a payload might lead its reader to do: functions for the child process of the sandbox."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import socket
import sys
import threading
import time
from pathlib import Path

from foundation.errors import StorageError
from protocols.canonical import Json
from protocols.errors import BoundsError

Arguments = dict[str, Json]


def echo(arguments: Arguments) -> Json:
    return arguments


def environment(arguments: Arguments) -> Json:
    """What it inherited; descriptors but the pipe and the standard streams."""
    descriptors = 0
    for number in range(512):
        try:
            os.fstat(number)
            descriptors += 1
        except OSError:
            continue
    return {
        "environment": [*sorted(os.environ)],
        "descriptors": descriptors - 4,
        "folder": os.getcwd(),
        "session": os.getsid(0) == os.getpid(),
        "path": [entry for entry in sys.path if entry in ("", ".", os.getcwd())],
    }


def file_size_limits(arguments: Arguments) -> Json:
    return list(resource.getrlimit(resource.RLIMIT_FSIZE))


def protocol_error(arguments: Arguments) -> Json:
    raise BoundsError("7", received="8", advice="refuse it", place="block 3")


def storage_error(arguments: Arguments) -> Json:
    raise StorageError("a file", received="none", advice="look for it", place="share.parquet")


def other_error(arguments: Arguments) -> Json:
    raise ZeroDivisionError("Brunhilda")


def memory_bomb(arguments: Arguments) -> Json:
    held = []
    while True:
        # Unlike a bytearray they take address space and no processor time, of which there is a limit too.
        held.append(bytes(64 << 20))


def mapped_memory(arguments: Arguments) -> Json:
    return len(mmap.mmap(-1, 40 << 30))


def endless_loop(arguments: Arguments) -> Json:
    while True:
        pass


def sleep(arguments: Arguments) -> Json:
    time.sleep(1000)
    return None


def fork_bomb(arguments: Arguments) -> Json:
    while True:
        os.fork()


def start_thread(arguments: Arguments) -> Json:
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return None


def start_program(arguments: Arguments) -> Json:
    os.execv("/bin/sh", ["/bin/sh", "-c", "true"])


def open_socket(arguments: Arguments) -> Json:
    families = {"internet": socket.AF_INET, "internet 6": socket.AF_INET6, "unix": socket.AF_UNIX}
    for name, family in families.items():
        try:
            socket.socket(family).close()
        except PermissionError:
            continue
        return name
    return None


def reach(arguments: Arguments) -> Json:
    """Connects without the filter's help being needed: the namespace has no way out."""
    with socket.create_connection(("127.0.0.1", int(str(arguments["port"]))), timeout=5):
        return None


def kill_parent(arguments: Arguments) -> Json:
    os.kill(os.getppid(), signal.SIGKILL)
    return None


def write_file(arguments: Arguments) -> Json:
    path = Path(str(arguments["path"]))
    with path.open("r+b" if path.exists() else "wb") as file:
        file.write(b"x")
    return None


# Their numbers on x86_64.
_TRUNCATE, _CHMOD, _RENAME, _UNLINK, _QUEUE_SIGNAL, _PRLIMIT, _PIDFD_OPEN = 76, 90, 82, 87, 129, 302, 434
_OPEN, _OPENAT, _OPENAT2, _FTRUNCATE, _FALLOCATE, _HERE = 2, 257, 437, 77, 285, -100


def raw_calls(arguments: Arguments) -> Json:
    """What a parser that was taken over would try on a file and on the parent, past anything of Python; the errno of each."""
    path, parent = str(arguments["path"]).encode(), int(str(arguments["parent"]))
    libc = ctypes.CDLL(None, use_errno=True)
    information = ctypes.create_string_buffer(128)
    ctypes.memmove(information, (ctypes.c_int * 4)(9, 0, -1, 0), 16)
    limit = (ctypes.c_ulong * 2)(0, 0)
    calls = {
        "truncate": (_TRUNCATE, path, 0),
        "chmod": (_CHMOD, path, 0o777),
        "rename": (_RENAME, path, path + b"-away"),
        "unlink": (_UNLINK, path),
        "signal": (_QUEUE_SIGNAL, parent, 9, information),
        "limits of another": (_PRLIMIT, parent, 7, limit, None),
        "own limits": (_PRLIMIT, 0, 7, None, limit),
        "handle of another": (_PIDFD_OPEN, parent, 0),
    }
    found: dict[str, Json] = {}
    for name, call in calls.items():
        ctypes.set_errno(0)
        libc.syscall(*call)
        found[name] = ctypes.get_errno()
    return found


def raw_openings(arguments: Arguments) -> Json:
    """Every way to open a file, or to change the size of one that is open, past anything of Python; the errno of each."""
    path = str(arguments["path"]).encode()
    libc = ctypes.CDLL(None, use_errno=True)
    flags = {
        "to write": os.O_WRONLY,
        "for both": os.O_RDWR,
        "to empty it": os.O_RDONLY | os.O_TRUNC,
        "to append": os.O_WRONLY | os.O_APPEND,
        "to make it": os.O_RDONLY | os.O_CREAT,
        "without a name": os.O_TMPFILE | os.O_WRONLY,
        "to read": os.O_RDONLY,
    }
    how = (ctypes.c_ulong * 3)(os.O_RDONLY, 0, 0)
    reading = os.open(path, os.O_RDONLY)
    calls: dict[str, tuple[object, ...]] = {
        **{f"open {name}": (_OPEN, path, flag, 0o600) for name, flag in flags.items()},
        **{f"openat {name}": (_OPENAT, _HERE, path, flag, 0o600) for name, flag in flags.items()},
        "openat2": (_OPENAT2, _HERE, path, how, ctypes.sizeof(how)),
        "ftruncate": (_FTRUNCATE, reading, 0),
        "fallocate": (_FALLOCATE, reading, 0, 0, 1),
    }
    found: dict[str, Json] = {}
    for name, call in calls.items():
        ctypes.set_errno(0)
        libc.syscall(*call)
        found[name] = ctypes.get_errno()
    return found


def read_file(arguments: Arguments) -> Json:
    return len(Path(str(arguments["path"])).read_bytes())


def huge_answer(arguments: Arguments) -> Json:
    return "x" * (1 << 20)


def flood(arguments: Arguments) -> Json:
    """Writes without an end to every descriptor that takes it."""
    while True:
        for descriptor in range(512):
            try:
                os.write(descriptor, b"x" * 65536)
            except OSError:
                continue


def speak_otherwise(arguments: Arguments) -> Json:
    """Answers with bytes of its own choice, as a reader that was taken over."""
    for descriptor in range(3, 512):
        try:
            os.write(descriptor, b"[1]\xff")
        except OSError:
            continue
    os._exit(0)


def say_nothing(arguments: Arguments) -> Json:
    os._exit(0)


def hang_up(arguments: Arguments) -> Json:
    """Closes the pipe and stays, so that it will be killed by the parent."""
    os.closerange(3, 512)
    time.sleep(1000)
    return None


def leave(arguments: Arguments) -> Json:
    sys.exit(3)


def crash(arguments: Arguments) -> Json:
    return ctypes.string_at(0)[0]


def many_files(arguments: Arguments) -> Json:
    held = [open(os.devnull, "rb") for _ in range(1000)]  # noqa: SIM115
    return len(held)


def no_number(arguments: Arguments) -> Json:
    return float("nan")  # type: ignore[return-value]

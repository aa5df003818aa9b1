"""Keeps the files of the machine from the inside of the sandbox: Landlock of Linux, without any rights that root would need.

A process that restricts itself keeps what it has open, and can open only what lies below the folders that it named.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
# Rights over files by the version of Landlock that brought them; what it does not know it can't refuse.
_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
# From version 4 on: to bind and to connect; from 6 on: no signals, no abstract sockets, to whoever is outside.
_NETWORK, _SCOPES = 0b11, 0b11


def landlock_version(libc: Any) -> int:
    """What the kernel knows of Landlock; below 1 where it has none, or has it switched off."""
    return int(libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION))


def read_only_below(libc: Any, folders: Iterable[str]) -> bool:
    """Lets this process read what lies below some folders, or is one of them, and touch no other file.

    Args:
        libc: the C library, whose errno is kept.
        folders: that exist; others are left out.

    Returns:
        False where the kernel has no Landlock: then nothing has changed.
    """
    version = landlock_version(libc)
    if version < 1:
        return False
    files = sum(rights for since, rights in _RIGHTS.items() if since <= version)
    parts = [files, *([_NETWORK] if version >= 4 else []), *([_SCOPES] if version >= 6 else [])]
    rules = struct.pack(f"={len(parts)}Q", *parts)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.c_char_p(rules), ctypes.c_size_t(len(rules)), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock")
    for folder in folders:
        try:
            place = os.open(folder, os.O_PATH)
        except OSError:
            continue
        rights = _READ_FILE | (_READ_FOLDER if os.path.isdir(folder) else 0)
        rule = struct.pack("=Qi", rights, place)
        failed = libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(rule), 0)
        os.close(place)
        if failed:
            raise OSError(ctypes.get_errno(), "a rule of Landlock")
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT_SELF, ruleset, 0):
        raise OSError(ctypes.get_errno(), "Landlock")
    os.close(ruleset)
    return True

"""The calls into the system that the inside of the sandbox may not make: a seccomp filter, which nothing can take off again.

What it must not reach: the network, other programs and processes, files by any other way than reading them, the kernel's
own settings. What stays is what a parser needs: memory, reading, the clock.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from typing import Any

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050001, 0x00050026
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 24, 32
_OTHER_TABLE = 0x40000000  # x86_64 answers to a second table of numbers from here on
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Reading one's own limits is harmless, and the C library does; the limits of others are not its business.
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
# open and openat, of which the second and the third argument say how: not to write, to make or to empty a file. A file without a
# name asks to write, too.
_OPEN, _OPENAT = {"x86_64": 2}, {"x86_64": 257, "aarch64": 56}
_CHANGING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# What openat2 is asked lies in memory, where a filter can't look: it is as on a kernel without it, and whoever asks takes openat.
_OPENAT2 = 437
# New calls have one number everywhere: pidfd_send_signal, io_uring_*, the new mount calls, pidfd_open, clone3, pidfd_getfd,
# mount_setattr, fchmodat2, setxattrat, removexattrat, open_tree_attr.
_EVERYWHERE = (424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 435, 438, 442, 452, 463, 466, 467)
_REFUSED = {
    "x86_64": (
        # socket, socketpair; clone, fork, vfork, execve, execveat
        41, 53, 56, 57, 58, 59, 322,
        # kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo; ptrace, process_vm_readv, process_vm_writev, kcmp
        62, 200, 234, 129, 297, 101, 310, 311, 312,
        # ftruncate, fallocate
        77, 285,
        # truncate, creat, chmod, fchmod, fchmodat, chown, fchown, lchown, fchownat, utime, utimes, futimesat, utimensat
        76, 85, 90, 91, 268, 92, 93, 94, 260, 132, 235, 261, 280,
        # setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr
        188, 189, 190, 197, 198, 199,
        # rename, renameat, renameat2, link, linkat, symlink, symlinkat, unlink, unlinkat, mkdir, mkdirat, rmdir, mknod, mknodat
        82, 264, 316, 86, 265, 88, 266, 87, 263, 83, 258, 84, 133, 259,
        # setpriority, sched_setparam, sched_setscheduler, sched_setaffinity, ioprio_set
        141, 142, 144, 203, 251,
        # mount, umount2, pivot_root, chroot, setns, unshare, open_by_handle_at, shmget, msgget, semget, memfd_create
        165, 166, 155, 161, 308, 272, 304, 29, 68, 64, 319,
        # bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl, init_module, finit_module, delete_module, kexec_load
        321, 298, 323, 248, 249, 250, 175, 313, 176, 246,
        # reboot, swapon, swapoff, sethostname, settimeofday, clock_settime, quotactl, iopl, ioperm
        169, 167, 168, 170, 164, 227, 179, 172, 173,
    ),
    "aarch64": (
        198, 199, 220, 221, 281,
        129, 130, 131, 138, 240, 117, 270, 271, 272,
        46, 47,
        45, 52, 53, 54, 55, 88,
        5, 6, 7, 14, 15, 16,
        38, 276, 37, 36, 35, 34, 33,
        140, 118, 119, 122, 30,
        40, 39, 41, 51, 268, 97, 265, 194, 186, 190, 279,
        280, 241, 282, 217, 218, 219, 105, 273, 106, 104,
        142, 224, 225, 161, 170, 112, 60,
    ),
}  # fmt: skip

# What to do, how many steps to leave out if it holds and if not (or the name of where to go on), and a value.
_Step = tuple[int, int | str, int | str, int]


def refuse_calls(libc: Any) -> bool:
    """Installs the filter for this process and all that it might start.

    Args:
        libc: the C library.

    Returns:
        False where the kernel or the processor has none: then nothing has changed.
    """
    machine = platform.machine()
    if machine not in _REFUSED:
        return False
    calls = (*_REFUSED[machine], *_EVERYWHERE)
    opens = [
        (call[machine], place)
        for call, place in ((_OPEN, _SECOND_ARGUMENT), (_OPENAT, _THIRD_ARGUMENT))
        if machine in call
    ]
    # The steps in order. A jump says how many of them it leaves out; names stand for their places until all are there.
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, "refuse", _ARCHITECTURES[machine]),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, "refuse", 0, _OTHER_TABLE),
        (_EQUAL, "own limits", 0, _PRLIMIT[machine]),
        (_EQUAL, "unknown", 0, _OPENAT2),
        *((_EQUAL, f"open by {place}", 0, call) for call, place in opens),
        *((_EQUAL, "refuse", 0, call) for call in calls),
        (_RETURN, 0, 0, _ALLOW),
    ]
    ends: dict[str, list[_Step]] = {
        "own limits": [(_LOAD, 0, 0, _FIRST_ARGUMENT), (_EQUAL, 0, "refuse", 0), (_RETURN, 0, 0, _ALLOW)],
        **{
            f"open by {place}": [(_LOAD, 0, 0, place), (_ANY_OF, "refuse", 0, _CHANGING), (_RETURN, 0, 0, _ALLOW)]
            for _, place in opens
        },
        "unknown": [(_RETURN, 0, 0, _UNKNOWN)],
        "refuse": [(_RETURN, 0, 0, _REFUSE)],
    }
    places: dict[str, int] = {}
    for name, more in ends.items():
        places[name] = len(steps)
        steps += more

    def packed(at: int, step: _Step) -> bytes:
        what, *jumps, value = step
        yes, no = (places[str(jump)] - at - 1 if isinstance(jump, str) else jump for jump in jumps)
        return struct.pack("=HBBI", what, yes, no, value)

    code = ctypes.create_string_buffer(b"".join(packed(at, step) for at, step in enumerate(steps)))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return not libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)

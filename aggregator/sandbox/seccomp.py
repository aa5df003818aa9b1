"""The calls into the system that the inside of the sandbox may not make: a seccomp filter, which nothing can take off again.

What it must not reach: the network, other programs and processes, files by any other way than reading them, the kernel's
own settings. What stays is what a parser needs: memory, reading, the clock.
"""

from __future__ import annotations

import ctypes
import platform
import struct
from typing import Any

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_OTHER_TABLE = 0x40000000  # x86_64 answers to a second table of numbers from here on
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# Reading one's own limits is harmless, and the C library does; the limits of others are not its business.
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
# New calls have one number everywhere: pidfd_send_signal, io_uring_*, the new mount calls, pidfd_open, clone3, pidfd_getfd,
# mount_setattr, fchmodat2, setxattrat, removexattrat, open_tree_attr.
_EVERYWHERE = (424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 435, 438, 442, 452, 463, 466, 467)
_REFUSED = {
    "x86_64": (
        # socket, socketpair; clone, fork, vfork, execve, execveat
        41, 53, 56, 57, 58, 59, 322,
        # kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo; ptrace, process_vm_readv, process_vm_writev, kcmp
        62, 200, 234, 129, 297, 101, 310, 311, 312,
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
        45, 52, 53, 54, 55, 88,
        5, 6, 7, 14, 15, 16,
        38, 276, 37, 36, 35, 34, 33,
        140, 118, 119, 122, 30,
        40, 39, 41, 51, 268, 97, 265, 194, 186, 190, 279,
        280, 241, 282, 217, 218, 219, 105, 273, 106, 104,
        142, 224, 225, 161, 170, 112, 60,
    ),
}  # fmt: skip


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
    # Places of the steps behind the calls; a jump says how many steps it leaves out.
    own_limits, refuse = len(calls) + 6, len(calls) + 9
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, refuse - 2, _ARCHITECTURES[machine]),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, refuse - 4, 0, _OTHER_TABLE),
        (_EQUAL, own_limits - 5, 0, _PRLIMIT[machine]),
        *((_EQUAL, refuse - 6 - place, 0, call) for place, call in enumerate(calls)),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return not libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)

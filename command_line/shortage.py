"""That this machine gives a process no more memory, whichever library says it: a statement about the machine, and no fault of the program."""

from __future__ import annotations

import errno

from foundation.os_errors import MORE_MEMORY

LINE = f"expected memory for this command, got no more of this machine; {MORE_MEMORY}, or give it less to do at once, such as fewer --jobs"
# Of the allocator of torch, of the loader of libraries and of what starts threads: none has a type of its own for it. One word is enough, the
# rest of what they say may be anything.
_SAID = (
    "cannot allocate memory",
    "can't allocate memory",
    "out of memory",
    "failed to map segment",
    "can't start new thread",
    "bad_alloc",
    # Of what multiplies matrices for torch, which has made each such thing wherever there was memory.
    "could not create a primitive",
    "could not create a memory object",
)


def lacks_memory(error: BaseException) -> bool:
    """Whether an error, or what it came of, says so.

    Args:
        error: of whatever kind.
    """
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        if isinstance(one, MemoryError) or (isinstance(one, OSError) and one.errno == errno.ENOMEM):
            return True
        # An import that fails is told as such, whatever failed beneath it.
        if isinstance(one, (ImportError, RuntimeError, OSError)) and any(said in str(one).lower() for said in _SAID):
            return True
        one = one.__cause__ or one.__context__
    return False

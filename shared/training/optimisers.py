"""The optimisers of torch, step for step, that do not load its compiler.

Torch marks their methods as nothing to compile, and to do so loads all that compiles: two seconds and a hundred megabytes
for each process that trains, of which not one compiles anything.
"""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

import torch

Kind = TypeVar("Kind", bound=torch.optim.Optimizer)
_MARKED = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")


def _uncompiled(kind: type[Kind]) -> type[Kind]:
    plain: dict[str, Any] = {name: inspect.unwrap(getattr(kind, name)) for name in _MARKED}
    # What the mark of a step does besides: no gradient of the step itself.
    plain["step"] = torch.no_grad()(inspect.unwrap(kind.step))
    return type(kind.__name__, (kind,), plain)


Nadam = _uncompiled(torch.optim.NAdam)
AdamW = _uncompiled(torch.optim.AdamW)

"""Which tensors of a file are read, beside its header."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from safetensors import safe_open


class _Watched:
    def __init__(self, file: Any, read: list[str]) -> None:
        self._file, self._read = file, read

    def __enter__(self) -> _Watched:
        return _Watched(self._file.__enter__(), self._read)

    def __exit__(self, *error: object) -> None:
        self._file.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def get_tensor(self, name: str) -> Any:
        self._read.append(name)
        return self._file.get_tensor(name)


def watch_tensors(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[str]:
    """A list that fills with the names of the tensors that a module reads."""
    names: list[str] = []
    monkeypatch.setattr(module, "safe_open", lambda path, framework: _Watched(safe_open(path, framework), names))
    return names

from __future__ import annotations

import pytest

from bench import results_privacy


def test_a_part_that_is_not_known_is_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    monkeypatch.setitem(results_privacy.PARTS, "chosen", lambda: measured.append("chosen"))
    monkeypatch.setattr("sys.argv", ["results_privacy", "chosen", "--help"])
    with pytest.raises(SystemExit, match=r"expected parts among .*copies.*, got --help"):
        results_privacy.main()
    assert not measured
    monkeypatch.setattr("sys.argv", ["results_privacy", "chosen"])
    results_privacy.main()
    assert measured == ["chosen"]

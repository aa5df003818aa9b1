"""What 500 hospitals and 10^9 tokens come to: measured costs of a token, times tokens; every assumption stands in the note.

Nothing here was run at that size. A core is one that measured here, and prices are round ones of a public cloud, to be replaced by one's own.
"""

from __future__ import annotations

from pathlib import Path

from aggregator.training.judging.operating_points import PASSES
from aggregator.training.pool import read_blocks
from bench.results import Entry

COMMAND = "python -m bench.results_show scale"
TOKENS, HOSPITALS, EPOCHS, PROCESSES = 10**9, 500, 20, 64
CORE_HOUR_USD, GB_MONTH_USD = 0.05, 0.025
_PRICES = f"assumed: {CORE_HOUR_USD} USD a core-hour, {GB_MONTH_USD} USD a GB-month"


def project(trained_a_second: float, efficiency: float, hidden_a_second: float, share: Path) -> list[Entry]:
    """All figures.

    Args:
        trained_a_second: tokens of one pass that a core learns from.
        efficiency: of a process beside another one, against one alone.
        hidden_a_second: tokens that a core de-identifies.
        share: an opened payload, for its size.
    """
    tokens = sum(block.tokens for block in read_blocks(share))
    size = share.stat().st_size / tokens
    hours = TOKENS * EPOCHS / trained_a_second / 3600
    together = hours / PROCESSES / min(efficiency, 1.0)
    hidden = TOKENS / hidden_a_second / 3600
    pool = TOKENS * size / 1e9
    points = HOSPITALS * PASSES * (HOSPITALS - 1) / HOSPITALS * hours
    head = f"{TOKENS:.0e} tokens, {EPOCHS} passes, no copies of sentences"
    return [
        _entry("10^9 tokens: a head by one core", hours, "hours", f"{head}; {_money(hours)}"),
        _entry(
            f"10^9 tokens: a head by {PROCESSES} processes",
            together,
            "hours",
            f"{head}; each at the share of its speed that two processes keep ({efficiency:.2f}), which nobody has measured for {PROCESSES}",
        ),
        _entry(
            f"{HOSPITALS} hospitals, each left out once for the operating points",
            points,
            "core-hours",
            f"{PASSES:g} of the passes for each; {_money(points)}: at this size --no-operating-points, or some hospitals alone, is what can be paid",
        ),
        _entry(
            "10^9 tokens: the pool",
            pool,
            "GB",
            f"{size:.2f} bytes a token as a payload of codes, {tokens} tokens measured; {pool * GB_MONTH_USD:.2f} USD a month in a store; {_PRICES}",
        ),
        _entry(
            "10^9 tokens: the pool, of one hospital",
            pool / HOSPITALS * 1000,
            "MB",
            f"{TOKENS // HOSPITALS} tokens each",
        ),
        _entry("10^9 tokens: deid by one core", hidden, "hours", f"{_money(hidden)}; by N programs, an N-th"),
    ]


def _money(hours: float) -> str:
    return f"{hours * CORE_HOUR_USD:.0f} USD ({_PRICES})"


def _entry(measure: str, value: float, unit: str, note: str) -> Entry:
    return Entry(
        measure, float(f"{value:.3g}"), None, "", unit, None, 1, "arithmetic on what was measured", COMMAND, note
    )

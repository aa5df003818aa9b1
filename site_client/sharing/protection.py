"""What protects a share: in numbers, as its manifest states them, and in words.

The numbers of the white-box bound are of one hospital's notes, so they are stated coarsely and rounded up: with all their
digits they would be a fingerprint of the notes. A maximum is of one word in one sentence, and stays in the house.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict

from shared.constructions.construction import Construction, Protection
from shared.constructions.registry import explain_promises
from shared.privacy.white_box import KNOWLEDGE
from site_client.sharing.guard import Guarded

# Accuracies of a manifest are rounded up to a multiple of this.
_STEP = 0.001


def protection(construction: Construction, guarded: Guarded | None = None) -> dict[str, float]:
    """What a manifest states; docs/formats/share.md explains each.

    Args:
        construction: of the release.
        guarded: what was found in the notes; None for what the release alone says.
    """
    stated = construction.promises()
    return stated if guarded is None else stated | _measured(guarded)


def _measured(guarded: Guarded) -> dict[str, float]:
    stated: dict[str, float] = {}
    spread = guarded.white_box.representation.get("")
    if spread is not None and spread.tokens:
        stated |= {"bayes_mean": _coarse(spread.mean), "bayes_p99": _coarse(spread.p99)}
        if guarded.neighbours:
            stated["bayes_neighbours"] = float(guarded.neighbours)
    if guarded.bound is not None:
        stated |= {"max_advantage": guarded.bound.advantage, "advantage_quantile": guarded.bound.quantile}
        if guarded.white_box.protection is Protection.NOISE:
            stated["advantage_draws"] = float(guarded.white_box.settings.draws)
    return stated


def _coarse(accuracy: float) -> float:
    return min(round(math.ceil(accuracy / _STEP - 1e-9) * _STEP, 3), 1.0)


def protection_lines(stated: Mapping[str, float]) -> list[str]:
    """What a manifest states, in words."""
    lines = explain_promises(stated)
    if "bayes_mean" in stated:
        lines.append(
            f"the best possible attacker, who has the release and the rest of the sentence, tells a labelled PHI word from "
            f"{_others(stated.get('bayes_neighbours', 0))} in {_percent(stated['bayes_mean'])} of cases on average and in "
            f"{_percent(stated['bayes_p99'])} at the 99th percentile; 50% is a guess"
            + ("" if "casing_hidden" in stated else ". Casing, which travels too, is not in it")
        )
    if "max_advantage" in stated:
        share = stated["advantage_quantile"]
        lines.append(
            f"{'all' if share == 1 else f'{share:.1%} of'} such pairs of each sentence stay at or below "
            f"{_percent((1 + stated['max_advantage']) / 2)}{_worst_of(stated)}: sentences that would not got more noise, or were left out"
        )
    return lines


def guarded_lines(guarded: Guarded, stated: Mapping[str, float]) -> list[str]:
    """What was found while encoding, in words, for the hospital itself.

    Args:
        guarded: what was found.
        stated: what the manifest states.
    """
    bound = guarded.white_box
    lines = []
    for spreads, what in ((bound.representation, ""), (bound.with_casing, ", casing included")):
        spread = spreads.get("")
        if spread is not None and spread.tokens:
            lines.append(
                f"best possible attacker on labelled PHI{what}: right in {_percent(spread.mean)} of cases on average, "
                f"99th percentile {_percent(spread.p99)}, maximum {_percent(spread.maximum)}; 50% is a guess"
            )
    if not lines:
        lines.append("best possible attacker on labelled PHI: there was no word to look at")
    elif not bound.with_casing and "casing_hidden" not in stated:
        lines.append(
            "  from the representation: how a word is written travels too, and tells a number from a word for sure"
        )
    elif guarded.neighbours:
        spread = bound.representation[""]
        lines.append(
            f"  that is a PHI word against {_others(guarded.neighbours)}: {spread.pairs} pairs of {spread.tokens} PHI words"
            f"{'' if bound.settings.neighbours is None else ', a sample'}"
        )
    if guarded.bound is not None:
        lines.append(
            f"--max-advantage {guarded.bound.advantage:g}: {guarded.raised} sentences got more noise, "
            f"{guarded.left_out} were left out"
        )
    if guarded.hidden_words:
        done = (
            f"the {guarded.hidden_left_out} sentences that hold them were left out"
            if guarded.hidden_left_out
            else "surrogates took their place, without a label"
        )
        lines.append(f"{guarded.hidden_words} words are labelled PHI of no category of the release: {done}")
    return lines


def guarded_json(guarded: Guarded) -> dict[str, object]:
    """The same as JSON, by PHI category too. It stays in the house."""
    bound, held = guarded.white_box, guarded.bound
    return {
        "white_box": {
            "construction": bound.protection.value,
            "knowledge": KNOWLEDGE,
            "neighbours": guarded.neighbours,
            "sample": bound.settings.neighbours is not None,
            "representation": {name or "all": asdict(spread) for name, spread in bound.representation.items()},
            "with_casing": {name or "all": asdict(spread) for name, spread in bound.with_casing.items()},
        },
        "bound": None if held is None else {**asdict(held), "raised": guarded.raised, "left_out": guarded.left_out},
        "hidden": {"words": guarded.hidden_words, "sentences_left_out": guarded.hidden_left_out},
    }


def _worst_of(stated: Mapping[str, float]) -> str:
    if "advantage_draws" not in stated:
        return ""
    return f" under each of {stated['advantage_draws']:.0f} draws of the input noise, made for this check alone"


def _others(neighbours: float) -> str:
    return (
        f"one of the {neighbours:.0f} nearest words that the release shows differently" if neighbours else "any other"
    )


def _percent(accuracy: float) -> str:
    return f"{accuracy:.1%}"

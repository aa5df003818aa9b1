"""Noise that is next to nothing, at a hospital that has its construction off, as all have, and at one that enabled it by name."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from bench.attack.release import BANK, SITE, Draft, Forgery, Lie, forged
from bench.attack.world import World, hospital, require
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.embeddings.files.artefact import load_vectors
from shared.models.representer import Representer, RepresenterConfig

_TINY = 1e-45
"""Of a floor: in single precision it is next to nothing, and as the file has it more than nothing."""


def _behind_noise(scale: float, raw: float | None = None) -> Forgery:
    """The plain word vectors behind a network that nobody has trained, and noise of a scale."""

    def apply(draft: Draft) -> None:
        scheme, vectors = draft.construction.scheme, load_vectors(draft.world.provider / "embeddings")
        torch.manual_seed(0)
        config = RepresenterConfig(vectors.dim, 8, 8, input_noise=scale, output_noise=scale, noise_floor=scale)
        network = Representer(config).eval().requires_grad_(False)
        if raw is not None:
            network.output_noise.raw.fill_(raw)
        (draft.folder / BANK).unlink()
        NoisyRecurrent(vectors, network, scheme).save(draft.folder)
        draft.record = {"options": {"procedure": "three-part"}}

    return apply


def _stated(scale: float) -> Forgery:
    """The description states a floor of the noise that is none."""

    def apply(draft: Draft) -> None:
        _behind_noise(0.05)(draft)
        draft.write("representer.json", draft.read("representer.json") | {"noise_floor": scale})

    return apply


def _where_enabled(lie: Lie) -> Lie:
    """At a hospital that takes `three-part` although nothing proves it."""

    def apply(world: World) -> None:
        require(hospital("policy", "set", "--enable", "three-part", "--workspace", world.site(SITE)))
        lie(world)

    return apply


LIES: Mapping[str, Lie] = {
    "noise that nothing proves, of a usual scale": forged(_behind_noise(0.05)),
    "noise of scale 0": forged(_behind_noise(_TINY, -1e4)),
    "noise of scale 0, where `three-part` is enabled": _where_enabled(forged(_behind_noise(_TINY, -1e4))),
    "noise whose scale is no number, where `three-part` is enabled": _where_enabled(
        forged(_behind_noise(0.05, float("nan")))
    ),
    "noise of a floor of 0, where `three-part` is enabled": _where_enabled(forged(_stated(0.0))),
    "noise of a floor below 0, where `three-part` is enabled": _where_enabled(forged(_stated(-1.0))),
}

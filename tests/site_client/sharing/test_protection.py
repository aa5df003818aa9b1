from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.fields import MEASURE
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Protection
from shared.privacy.enforcement import AdvantageBound
from shared.privacy.statistics.accuracies import Spread
from shared.privacy.white_box import WhiteBoxBound
from shared.privacy.word_pairs import WHILE_ENCODING, WhiteBoxSettings
from site_client.sharing.guard import Guarded
from site_client.sharing.protection import guarded_json, guarded_lines, protection, protection_lines
from tests.site_client.sites import clear, noisy, surrogates

FORMAT = Path(__file__).parents[3] / "docs" / "formats" / "share.md"


def spread(mean: float = 0.51234, p99: float = 0.6, maximum: float = 0.777, tokens: int = 40) -> Spread:
    return Spread(tokens, 4 * tokens, mean, (mean, mean), p99, p99, maximum)


def guarded(found: Spread, neighbours: int = 100, bound: AdvantageBound | None = None) -> Guarded:
    both = {"": found, "DOCTOR": found}
    settings = WHILE_ENCODING if bound is None else replace(WHILE_ENCODING, draws=8)
    return Guarded(WhiteBoxBound(Protection.NOISE, both, both, settings), neighbours, bound, 3, 1)


SURROGATES = Guarded(
    WhiteBoxBound(Protection.SURROGATES, {"": spread(0.5, 0.5, 0.5)}, {}, WhiteBoxSettings()), 0, None, 0, 0
)


def test_the_noise_is_stated() -> None:
    construction = noisy(0.3)
    scale = construction.representer.output_noise.scale.detach().numpy()
    stated = protection(construction)
    assert stated["noise_sigma_min"] == pytest.approx(scale.min())
    assert stated["noise_sigma_mean"] == pytest.approx(scale.mean())
    assert stated["mu_per_token"] == pytest.approx(2 / scale.min())
    assert set(protection(clear())) == {"surrogates"}


@given(st.floats(0.5, 1), st.floats(0.5, 1))
def test_accuracies_of_a_manifest_are_coarse_and_never_too_low(mean: float, p99: float) -> None:
    stated = protection(clear(), guarded(spread(mean, p99)))
    for name, accuracy in (("bayes_mean", mean), ("bayes_p99", p99)):
        assert accuracy - 1e-9 <= stated[name] < accuracy + 0.001
        assert stated[name] == round(stated[name], 3)


def test_hidden_casing_is_stated() -> None:
    bank = SurrogateBank(((0, ("Anna",)),), hides_casing=True)
    stated = protection(surrogates(bank), SURROGATES)
    assert stated["casing_hidden"] == 1
    text = "\n".join(protection_lines(stated))
    assert "casing and punctuation of these words are those of the replacements" in text
    assert "Casing, which travels too" not in text


def test_the_maximum_and_the_counts_stay_in_the_house() -> None:
    bound = AdvantageBound(0.2, 0.9)
    stated = protection(clear(), guarded(spread(), bound=bound))
    assert stated == {
        "surrogates": 0,
        "bayes_mean": 0.513,
        "bayes_p99": 0.6,
        "bayes_neighbours": 100,
        "max_advantage": 0.2,
        "advantage_quantile": 0.9,
        "advantage_draws": 8,
    }
    found = guarded_json(guarded(spread(), bound=bound))
    assert found["bound"] == {"advantage": 0.2, "quantile": 0.9, "max_factor": 16, "raised": 3, "left_out": 1}
    white_box = found["white_box"]
    assert isinstance(white_box, dict)
    assert set(white_box["with_casing"]) == {"all", "DOCTOR"}
    assert white_box["representation"]["DOCTOR"]["maximum"] == 0.777


def test_what_was_not_looked_at_is_not_stated() -> None:
    nothing = guarded(spread(tokens=0))
    assert set(protection(clear(), nothing)) == {"surrogates"}
    (line,) = guarded_lines(nothing, {})
    assert "no word" in line


def test_it_is_said_in_words() -> None:
    text = "\n".join(guarded_lines(guarded(spread(), bound=AdvantageBound(0.2)), {}))
    for part in (
        "51.2%",
        "60.0%",
        "77.7%",
        "160 pairs of 40 PHI words, a sample",
        "casing included",
        "3 sentences",
        "1 were",
    ):
        assert part in text
    text = "\n".join(protection_lines(protection(clear(), guarded(spread(), bound=AdvantageBound(0.2, 0.9)))))
    for part in (
        "51.3% of cases on average",
        "one of the 100 nearest words that the release shows differently",
        "90.0% of such pairs",
        "60.0% under each of 8 draws of the input noise",
    ):
        assert part in text
    text = "\n".join(protection_lines(protection(clear(), SURROGATES)) + guarded_lines(SURROGATES, {}))
    assert "from any other in 50.0%" in text
    assert "nearest" not in text


def test_the_guarantee_of_the_noise_is_told_for_a_token_a_sentence_and_a_note() -> None:
    text = "\n".join(protection_lines({"noise_sigma_min": 2.0, "mu_per_token": 1.0}))
    # mu = 2 / sigma, times the square root of the tokens that move; epsilon of mu = 1 is that of Balle and Wang 2018.
    for part in ("token mu 1, epsilon 4.887", "20 tokens mu 4.472,", "500 tokens mu 22.36,", "delta 1e-06"):
        assert part in text


def test_every_measure_is_documented_and_fits_a_manifest() -> None:
    documented = set(
        re.findall(r"^\| `([a-z0-9_]+)` \| [^|]*\|$", FORMAT.read_text().split("## Measures")[1], re.MULTILINE)
    )
    bank = SurrogateBank(((0, ("Anna",)),), hides_casing=True)
    stated = protection(noisy(0.3), guarded(spread(), bound=AdvantageBound(0.2))).keys() | protection(surrogates(bank))
    assert stated == documented
    assert all(MEASURE.fullmatch(name) for name in documented)

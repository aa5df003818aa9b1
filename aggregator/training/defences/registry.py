"""The defences by name. A new one is a file beside this one and a line in DEFENCES; `aggregator.commands.options` has the words too."""

from __future__ import annotations

from collections.abc import Mapping

from aggregator.training.defences.defence import Defence
from aggregator.training.defences.everything import Everything
from aggregator.training.defences.gradient_median import GradientMedian
from aggregator.training.defences.loss_trimming import LossTrimming
from aggregator.training.defences.row_majority import RowMajority
from aggregator.training.defences.site_cap import SiteCap
from aggregator.training.defences.together import MajorityAndCap
from shared.errors import ConfigurationError

DEFENCES: Mapping[str, Defence] = {
    kind.name: kind() for kind in (Everything, SiteCap, LossTrimming, RowMajority, GradientMedian, MajorityAndCap)
}
DEFAULT = MajorityAndCap.name


def find_defence(name: str) -> Defence:
    """The defence of that name.

    Raises:
        ConfigurationError: there is none.
    """
    if name not in DEFENCES:
        raise ConfigurationError(f"expected a defence among {', '.join(DEFENCES)}, got {name!r}")
    return DEFENCES[name]

"""The colours of all plots: the Okabe-Ito set, which readers with any kind of colour vision can tell apart."""

from __future__ import annotations

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#8a8f98"
SERIES = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", "#D55E00", GREY)

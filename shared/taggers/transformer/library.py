"""The libraries of the extra `transformers`, loaded when such a tagger is asked for, and never with a network."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from shared.errors import MissingExtraError

# Read when the library is loaded: it asks no hub for anything, and tells nobody that it is used.
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def required(name: str) -> Any:
    """A library of the extra.

    Args:
        name: "transformers" or "tokenizers".

    Raises:
        MissingExtraError: it is not installed.
    """
    os.environ.update(_OFFLINE)
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            f"a transformer needs the package {name}, found none; in the checkout run `pip install '.[transformers]'`"
        ) from error

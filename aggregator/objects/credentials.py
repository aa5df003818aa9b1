"""Credentials of an S3-compatible store in a file: its client reads variables alone, and containers are given secrets as files."""

from __future__ import annotations

import os
from configparser import Error, RawConfigParser
from pathlib import Path

from foundation.reading import read_text
from shared.errors import ConfigurationError

FILE = "AWS_SHARED_CREDENTIALS_FILE"
_NAMES = {name.removeprefix("aws_"): name for name in ("aws_access_key_id", "aws_secret_access_key")}
_TOKEN = "aws_session_token"


def credentials_of_file() -> dict[str, str]:
    """Options of the client, from the section AWS_PROFILE (default: default) of the file that AWS_SHARED_CREDENTIALS_FILE names.

    Returns:
        nothing without that variable, or where the environment holds the keys themselves.

    Raises:
        ConfigurationError: the file holds none.
        StorageError: it can't be read.
    """
    path, profile = os.environ.get(FILE), os.environ.get("AWS_PROFILE", "default")
    if not path or os.environ.get("AWS_ACCESS_KEY_ID"):
        return {}
    text, parser = read_text(Path(path)), RawConfigParser()
    try:
        parser.read_string(text)
        found = {option: parser[profile][name] for option, name in _NAMES.items()}
    except (Error, KeyError):
        # Not as its cause: that one quotes lines of the file.
        raise ConfigurationError(
            f"{FILE}: expected {' and '.join(_NAMES.values())} in its section of AWS_PROFILE or [default], found none; "
            "correct the file"
        ) from None
    token = parser[profile].get(_TOKEN)
    return found if token is None else {**found, "session_token": token}

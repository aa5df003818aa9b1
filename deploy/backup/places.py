"""Where a workspace says that its registry and its objects are, a line each: a URL, or a path below the workspace.

Both scripts beside this ask it, with any Python 3, so it imports nothing of the program. What lies elsewhere on the disk is refused: whoever
restores it beside the old one would have two workspaces on one registry.
"""

import json
import os.path
import re
import sys

WRONG_USE = 2


def place(setting: str, name: str) -> str:
    """The URL or the path below the workspace, as the program reads the setting; ends the process where it is neither."""
    if name == "database" and re.match(r"(postgres|postgresql|postgresql\+psycopg)://", setting):
        return setting
    if name == "objects" and setting.startswith("s3://"):
        return setting
    path = os.path.normpath(setting.removeprefix("sqlite:///") if name == "database" else setting)
    if path in (".", "..") or path.startswith(("/", "../")) or "://" in path or "\n" in path:
        print(
            f"error: {name} of aggregator.json: expected a name below the workspace, PostgreSQL or S3, got another place; stop every program, "
            "move it into the workspace, write its name there into aggregator.json, then repeat",
            file=sys.stderr,
        )
        sys.exit(WRONG_USE)
    return path


if __name__ == "__main__":
    with open(os.path.join(sys.argv[1], "aggregator.json"), encoding="utf-8") as file:
        settings = json.load(file)
    print(place(settings["database"], "database"), place(settings["objects"], "objects"), sep="\n")

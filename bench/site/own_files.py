"""What the theme would have a browser fetch from elsewhere, beside the pages instead.

Opened from the disk, a browser lets no page start a worker, so the search needs a small script that stands in for one (iframe-worker 1.0.4, MIT, as
published). The theme names it on a public server; a page that needs no network must bring it along.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
_SHIM = Path(__file__).parent / "iframe_worker" / "iframe-worker-1.0.4.js"


def bring(site: Path) -> int:
    """Put the script beside the pages, and its place into each.

    Args:
        site: the folder that was built.

    Returns:
        How many pages named it elsewhere.
    """
    target = site / "assets" / "javascripts" / _SHIM.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_SHIM, target)
    changed = 0
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if ELSEWHERE in text:
            near = Path(os.path.relpath(target, page.parent)).as_posix()
            page.write_text(text.replace(ELSEWHERE, near), encoding="utf-8")
            changed += 1
    return changed

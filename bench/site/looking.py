"""What a built site must not have: anything that a browser would fetch from elsewhere, and links that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a page loads by itself, by element and attribute; a link that a person follows may lead anywhere.
_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}
# Relations of a link that name a page and load nothing.
_NAMING = {"canonical", "prev", "next", "alternate"}
_STYLE_URL = re.compile(r"""(?:@import\s+|url\()\s*["']?([^"')\s]+)""")


class _Reader(HTMLParser):
    """Links, what is loaded, and places that can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "link" and given.get("rel") in _NAMING:
            return
        for name, value in given.items():
            if (tag, name) in _LOADED:
                self.loaded.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


def faults(site: Path) -> list[str]:
    """Everything that is wrong with a site, one a line; nothing is fetched.

    Args:
        site: the folder that was built.
    """
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    found = [f"{path.relative_to(site)}: {fault}" for path in pages for fault in _of_page(path, site, pages)]
    for path in sorted(site.rglob("*.css")):
        addresses = _STYLE_URL.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: loads {one}" for one in addresses if _elsewhere(one)]
    return found


def _read(path: Path) -> _Reader:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def _of_page(path: Path, site: Path, pages: dict[Path, _Reader]) -> Iterator[str]:
    for address in pages[path].loaded:
        if _elsewhere(address):
            yield f"loads {address}"
    # The page for what is not found stands nowhere, so its links are those of a root.
    for address in [] if path.name == "404.html" else pages[path].links + pages[path].loaded:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_relative_to(site.resolve()) or not target.exists():
            yield f"{address} leads nowhere"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
            yield f"{address} leads to no place of its page"


def _elsewhere(address: str) -> bool:
    """Whether a browser would fetch it over a network."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")

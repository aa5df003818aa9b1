"""Makes HTML of pages. Everything is escaped but the plots, which are made here and escape what they write."""

from __future__ import annotations

from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from aggregator.dashboard.access.accounts import Account
from aggregator.dashboard.blocks import Cell, Page
from aggregator.dashboard.pages.registry import PAGES
from foundation.printable import escape_lines

_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


def _files(folder: str) -> dict[str, bytes]:
    found = resources.files("aggregator.dashboard") / folder
    return {item.name: item.read_bytes() for item in found.iterdir() if item.is_file()}


class Pages:
    """The templates, read once.

    Args:
        provider: its name, which every page shows.
    """

    def __init__(self, provider: str) -> None:
        sources = {name: data.decode() for name, data in _files("templates").items() if name.endswith(".html")}
        self._environment = Environment(
            loader=DictLoader(sources),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_readable,
        )
        self._environment.globals.update(
            provider=provider, menu=[(place.path, place.name) for place in PAGES if place.name]
        )
        self._environment.filters.update(cell=_cell, drawn=Markup)
        self.files = {
            name: (data, _TYPES[name.rpartition(".")[2]])
            for name, data in _files("files").items()
            if name.rpartition(".")[2] in _TYPES
        }

    def page(self, page: Page, account: Account, **given: str) -> HTMLResponse:
        """A page of somebody who has signed in.

        Args:
            page: it.
            account: whose; forms for other roles are left out.
            given: `path`, its address, to which a person comes back who does not confirm; `csrf` of the session; `said`, what has just
                happened, "" for nothing; `base`, what stands ahead of every path.
        """
        return self._answer("page.html", 200, page=page, name=account.name, role=account.role, **given)

    def confirm(self, account: Account, **given: object) -> HTMLResponse:
        """The page that says what will happen.

        Args:
            account: who has asked.
            given: `foretold`, what will happen; `csrf` and `base` as for `page`; `pending`, by which it is confirmed; `back`, where a person goes who does not.
        """
        return self._answer("confirm.html", 200, name=account.name, role=account.role, **given)

    def sign_in(self, following: str, problem: str = "", status: int = 200) -> HTMLResponse:
        """The page on which a person signs in."""
        return self._answer("sign_in.html", status, following=following, problem=problem)

    def at_proxy(self, following: str) -> HTMLResponse:
        """The page of nobody where a proxy signs people in: it says where they sign out, and signs nobody in by itself."""
        return self._answer("at_proxy.html", 200, following=following)

    def error(self, status: int, text: str, base: str = "") -> HTMLResponse:
        """The page that says why something was not done."""
        return self._answer("error.html", status, text=text, base=base)

    def _answer(self, template: str, status: int, **given: object) -> HTMLResponse:
        return HTMLResponse(self._environment.get_template(template).render(**given), status)


def _readable(value: object) -> object:
    """A text without what turns a line round or can't be seen: what somebody reads before they confirm it must stand as it is.

    Ends of lines stay; what was made here is left as it is.
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return escape_lines(value)


def _cell(value: Cell | str) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)

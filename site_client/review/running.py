"""Runs the page of a review until its person ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from site_client.local_http.gates import BrowserGate
from site_client.local_http.serving import HOST, listening, serve
from site_client.review.app import ReviewApp
from site_client.review.finding import Finding
from site_client.review.listing import Order, Show, listed
from site_client.review.project import Project

if TYPE_CHECKING:
    # It loads networks; the page is there before them.
    from site_client.review.prelabel import Finder


def run(project: Project, load: Callable[[], Finder] | None, port: int, announce: Callable[[str], None]) -> None:
    """Serve until a signal ends it; everything that the page showed is saved by then.

    Args:
        project: that is reviewed.
        load: makes what pre-labels, None for nothing.
        port: to listen at; 0 for any that is free.
        announce: takes the address to open, each of which opens one window; it is for the person at the terminal alone.

    Raises:
        StorageError: another program has the port.
    """
    # Every note is ranked once before anybody waits for it.
    listed(project, Order.LEAST_CERTAIN, Show.ALL)
    with listening(port) as listener:
        port = listener.getsockname()[1]
        # What stands behind # a browser keeps for itself.
        gate = BrowserGate(lambda token: announce(f"http://{HOST}:{port}/#{token}"), f"review-{port}")
        finding = None if load is None else Finding(project, load)
        app = ReviewApp(project, finding, gate).guarded(port)
        if finding is not None:
            finding.start()
        try:
            serve(app, listener, gate.offer)
        finally:
            if finding is not None:
                finding.stop()

"""Figures of the server for Prometheus: how much of what, never of whom. No name of a site, no digest, no address."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The figures of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter("deid_requests", "Requests answered.", ("route", "status"), registry=self._registry)
        self.refusals = Counter("deid_refusals", "Requests refused.", ("code",), registry=self._registry)
        self.running = Gauge("deid_requests_running", "Requests being answered.", registry=self._registry)
        self.seconds = Histogram(
            "deid_request_seconds",
            "Seconds to an answer.",
            ("route",),
            registry=self._registry,
            buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 20, 60, 300),
        )
        self.turned_away = Counter(
            "deid_connections_turned_away", "Connections refused or cut.", ("why",), registry=self._registry
        )
        self.received = Counter("deid_received_bytes", "Bytes of bundles on the disk.", registry=self._registry)
        self.decided = Counter("deid_shares", "Shares decided about.", ("state",), registry=self._registry)

    def page(self) -> bytes:
        """All figures in the format of Prometheus."""
        return generate_latest(self._registry)

"""What the provider knows about sites, shares, uploads and releases, in one database; and the log of all that happened.

registry = open_registry(url)
with registry.transaction() as session:      # one writer at a time; commits at the end, rolls back on any error
    session.add(SiteRow(...))
    audit_log.append(session, "operator", "site-enrolled", {"site": "north"})
with registry.reading() as session:          # one consistent state, writes refused
    ...
"""

from aggregator.registry import audit_log
from aggregator.registry.database import Registry, database_url, open_registry

__all__ = ["Registry", "audit_log", "database_url", "open_registry"]

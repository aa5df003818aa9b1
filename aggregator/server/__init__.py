"""The provider's HTTPS server: uploads, receipts, withdrawals and rotations of sites, and the release repository for all.

`app.create_app` makes the ASGI application, `serve.serve` runs it behind TLS. Everything of a site is signed by its key,
see `authentication`; nothing here parses a share: that is `aggregator.ingestion.ingest`.
"""

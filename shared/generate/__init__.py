"""A seeded generator of labelled clinical notes for fictional hospitals, in English and Spanish.

Every name, number and sentence is invented here or drawn by Faker; nothing comes from a corpus. Each hospital has
its own layout, headers, phrases, staff, and formats of dates, names and numbers, so that a model trained on the notes
of one does worse on another's.
"""

from __future__ import annotations

from shared.generate.notes import generate_notes, generate_public_text, public_site, site_names, site_profile
from shared.generate.profile import SiteProfile

__all__ = ["SiteProfile", "generate_notes", "generate_public_text", "public_site", "site_names", "site_profile"]

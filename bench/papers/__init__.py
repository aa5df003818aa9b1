"""Experiments that regenerate the tables and figures of papers."""

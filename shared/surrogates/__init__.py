"""Realistic PHI in the place of the true, for notes that people read: dates, ages and places drawn near the true ones by mechanisms with a stated
metric and budget, all else drawn without a look at what it replaces.

This is not the bank of public spans that protects shares (`shared.anonymity.surrogates`): nothing that is made here ever goes into a share.
"""

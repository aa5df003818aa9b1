"""The networks: CRF, tagger, representer and the adversaries that attack it."""

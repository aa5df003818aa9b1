"""What a tagger found and the last word gives up: see docs/adr/0043 and 0044."""

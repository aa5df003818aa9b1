"""What the two programs' command lines have in common; see docs/adr/0001-layout.md."""

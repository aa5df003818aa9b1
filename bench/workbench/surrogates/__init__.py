"""What surrogates for reading promise, leave and cost, measured."""

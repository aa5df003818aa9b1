"""The hospital's program: pull, encode, inspect, submit, de-identify, evaluate. Notes never leave through it."""

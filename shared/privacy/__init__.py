"""Privacy: attacks on what a share shows, accounting of its noise, and the audit that reports both."""

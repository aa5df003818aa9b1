"""Who may hold a connection to the server, and for how long: decided when it is accepted, before TLS and before a byte is read."""

"""Sites that can keep a connection train the head together: rounds, their checkpoints, and the head that comes of them."""

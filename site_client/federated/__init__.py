"""The hospital's side of a training over a connection: what it checks, what it learns, and the gate that everything passes."""

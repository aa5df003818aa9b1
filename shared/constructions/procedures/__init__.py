"""The constructions and the procedures that make them, one a file; `shared.constructions.registry` lists them."""

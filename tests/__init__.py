"""What holds the rest: a folder for each package, and what goes through all of them."""

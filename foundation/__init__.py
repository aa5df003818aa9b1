"""What the libraries stand on."""

"""What is chosen or checked on training notes that nobody learns from."""

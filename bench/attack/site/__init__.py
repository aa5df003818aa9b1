"""What a hospital that lies can send, by what it lies about."""

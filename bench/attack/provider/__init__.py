"""What a provider that lies can sign, by what it lies about."""

"""What several processes gain, and what that comes to for hundreds of hospitals."""

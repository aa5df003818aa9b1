"""De-identification in parts: what each part says of itself, and the whole that they make."""

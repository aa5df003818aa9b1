"""What may be shown of a note: public words, clusters of words, and public PHI in the place of the true."""

"""What is measured: speeds, attacks, the figures of papers, and the drawing of the house."""

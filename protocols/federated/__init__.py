"""What provider and sites send each other when they train together: a signed task, a signed result, and weights as bytes."""

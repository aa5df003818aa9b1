"""PHI drawn by its kind: names of many cultures, places, and dates and numbers in every spelling; data files, and a small engine."""

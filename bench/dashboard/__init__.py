"""What the dashboard's pages cost with many hospitals, and whether everybody can use them: `python -m bench.results_show dashboard`."""

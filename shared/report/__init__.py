"""Report pages: plots and tables in one HTML file that needs no network and no script."""

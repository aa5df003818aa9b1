"""`python -m site_client`: the same as the console script."""

from site_client.cli import main

main()

"""`python -m site_client`: the same as the console script."""

from site_client.commands.cli import main

main()

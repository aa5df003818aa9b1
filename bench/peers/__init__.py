"""Others beside us on the same notes, for docs/results/peers.md; what each can do stands with its sources in bench/results/words/peers.toml."""

"""What the vocabulary of the default preset tells of a word, for docs/results/privacy.json."""

from __future__ import annotations

from aggregator.training.representer import RepresenterOptions
from bench.outcomes import load_or_measure
from bench.privacy.attacks import train_encoder
from bench.privacy.material import COMMAND, spanish_names
from bench.results import Entry, record
from shared.embeddings.generalised import strip_accents


def vocabularies() -> None:
    """How sure a guess within a cluster can be, and what is shown of the lists of names; 0.1 is the share of docs/privacy.md."""
    listed = {strip_accents(word) for words in spanish_names() for word in words}
    entries = []
    for size, share in ((1000, 1.0), (1000, 0.1), (100, 1.0)):

        def measure(size: int = size, share: float = share) -> dict[str, object]:
            construction = train_encoder(RepresenterOptions(cluster_size=size, max_share=share))
            words, facts = construction.vectors.words, construction.facts()
            shown = [word for word, public in zip(words, construction.are_public(words), strict=True) if public]
            named = sum(strip_accents(word) in listed for word in shown)
            return {
                "largest": facts["largest_share"],
                "public": len(shown),
                "named": named,
                "clusters": facts["clusters"],
            }

        found = load_or_measure(f"privacy-vocabulary-{size}-{share:g}", measure)
        bounded = "" if share == 1 else f", --max-share {share:g}"
        note = f"{found['clusters']} clusters, {found['public']} public words; of {len(listed)} listed names {found['named']} are public: seen small often enough"
        entries.append(
            Entry(
                f"default procedure, K={size}{bounded}: largest share of a word in its cluster's public frequency",
                round(found["largest"], 4),
                None if share == 1 else share,
                "" if share == 1 else "<=",
                "share",
                None,
                1,
                "meddocan/train",
                COMMAND,
                note,
                found["commit"],
            )
        )
    record("privacy", entries)

"""Notes that are to count more than once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from aggregator.enrolled import shares
from aggregator.ingestion.ingest import Decision
from bench.attack.share import SEQUENCE, Liar, Lie, Sealing
from bench.attack.site.rows import first_sentences
from bench.attack.world import NEXT
from protocols.payload.shuffled_writer import permute_sentences


def _send_honest(liar: Liar) -> Decision:
    """The second share of the hospital, honestly: in the pool from now on."""
    return liar.count(liar.send_as_made(liar.world.honest))


def send_the_same_bundle(liar: Liar) -> Decision:
    """The same bytes once more."""
    bundle = liar.bundle(liar.world.honest, liar.state(liar.world.honest), Sealing())
    liar.count(liar.take_in(bundle))
    return liar.take_in(bundle)


def seal_anew(liar: Liar) -> Decision:
    """The same manifest in another bundle."""
    _send_honest(liar)
    return liar.send_as_made(liar.world.honest)


def number_anew(liar: Liar) -> Decision:
    """The same payload under a later number."""
    _send_honest(liar)
    return liar.send_payload(liar.world.honest, sequence=2_000_000_000)


def number_back(liar: Liar) -> Decision:
    """The same payload under an earlier number that is free."""
    liar.count(liar.send_payload(liar.world.honest, sequence=60))
    return liar.send_payload(liar.world.honest, sequence=SEQUENCE)


def turn_the_order(liar: Liar) -> Decision:
    """The same sentences in another order."""
    _send_honest(liar)
    block = liar.block()
    return liar.send_block(permute_sentences(block, np.arange(block.sentences)[::-1]))


def leave_a_tenth_out(liar: Liar) -> Decision:
    """The same sentences, of which a tenth are left out."""
    _send_honest(liar)
    block = liar.block()
    return liar.send_block(first_sentences(block, block.sentences * 9 // 10))


def encode_anew(liar: Liar) -> Decision:
    """The same notes under other surrogates."""
    _send_honest(liar)
    return liar.send_as_made(liar.encode(liar.world.documents(NEXT)[::-1], "again"))


def mix_with_new_ones(liar: Liar) -> Decision:
    """Notes of which six of ten came before."""
    _send_honest(liar)
    old = liar.world.documents(NEXT)
    six, four = len(old) * 6 // 10, len(old) * 4 // 10
    # Those of the provider were not shared by anybody, and every hospital has them.
    return liar.send_as_made(liar.encode([*old[:six], *liar.world.documents("public")[:four]], "mixed"))


def pass_on(liar: Liar) -> Decision:
    """The same notes by another hospital."""
    _send_honest(liar)
    return liar.send_as_made(liar.encode(liar.world.documents(NEXT), "passed-on", "south"))


def split_over_two(liar: Liar) -> Decision:
    """Half of the notes came from this hospital and half from another; then all of them come once more."""
    notes = liar.world.documents(NEXT)
    half = len(notes) // 2
    liar.count(liar.send_as_made(liar.encode(notes[:half], "one")))
    liar.count(liar.send_as_made(liar.encode(notes[half:], "other", "south")))
    return liar.send_as_made(liar.encode(notes, "both"))


def send_again_what_was_taken_back(liar: Liar) -> Decision:
    """What was withdrawn, sealed anew."""
    decision = liar.count(liar.send_as_made(liar.world.honest))
    [share] = [one for one in shares.list_shares(liar.provider) if one.id == decision.share]
    shares.withdraw(liar.provider, share, "A. Weiss", "asked")
    return liar.send_as_made(liar.world.honest)


def send_again_what_was_set_aside(liar: Liar) -> Decision:
    """What waits for a person, once more under another number."""
    honest = liar.block()
    block = liar.narrow(replace(honest, tags=np.zeros_like(honest.tags)))
    liar.send_block(block)
    turned = permute_sentences(block, np.arange(block.sentences)[::-1])
    return liar.send_block(turned, sequence=SEQUENCE + 1)


LIES: Mapping[str, Lie] = {
    "the same bundle twice": send_the_same_bundle,
    "the same share, sealed anew": seal_anew,
    "the same share under a later number": number_anew,
    "the same share under an earlier number": number_back,
    "the same sentences in another order": turn_the_order,
    "the same sentences but for a tenth": leave_a_tenth_out,
    "the same notes under other surrogates": encode_anew,
    "notes of which six of ten came before": mix_with_new_ones,
    "the same notes from another hospital": pass_on,
    "notes that came in halves from two hospitals": split_over_two,
    "a share that was taken back, sealed anew": send_again_what_was_taken_back,
    "a share that waits for a person, under another number": send_again_what_was_set_aside,
}

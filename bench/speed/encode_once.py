"""One encoding with the default construction, by whatever state of the code comes first on PYTHONPATH: a program for `encode_then`.

    encode_once.py prepare PUBLIC           makes provider/ and hospital/ in the current folder, of public notes
    encode_once.py encode NOTES [NAME...]   prints CPU seconds of an encoding, those of them that make and write what leaves, and its bytes
    encode_once.py cut NOTES                prints CPU seconds of reading notes and cutting them into tokens and sentences, and no more

NAME is an argument of `encode` that is to be None. All that is called here is there in both states of the code.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

from aggregator import workspace as provider
from aggregator.publishing import releases
from aggregator.training import representer
from protocols.payload.shuffled_writer import ShuffledWriter
from shared.anonymity.names import default_names
from shared.constructions.registry import load_construction
from shared.corpus import read_corpus
from shared.embeddings.training import FastTextSettings, train_fasttext
from shared.sentences.tokenised import tokenise_documents
from site_client import workspace as hospital
from site_client.policy.enforcing import Acceptance
from site_client.releases import pull
from site_client.sharing import encode as encoding

_SCHEME = "i2b2_2014"
_MEASUREMENT = Acceptance("a measurement")


def prepare(public: Path) -> None:
    """A provider whose release is the default construction, and a hospital that has pulled it."""
    central = provider.create(Path("provider"), "bench", _SCHEME)
    notes = list(read_corpus(public))
    texts = [note.text for note in notes]
    vectors = train_fasttext(texts, FastTextSettings(epochs=2), seed=1)
    material = representer.PublicMaterial(notes, vectors, texts, default_names(_SCHEME))
    representer.train(central, material, representer.RepresenterOptions())
    releases.publish_representer(central, releases.Publishing(audited=False))
    site = hospital.create(Path("hospital"), "bench")
    pull.pull(site, str(central.releases), central.repository().fingerprint.key_id, acceptance=_MEASUREMENT)


def encode(notes: Path, without: list[str]) -> tuple[float, float, int]:
    """Encodes in a copy of the hospital, which has never shared anything.

    Args:
        notes: labelled.
        without: arguments of `encode` that are to be None.

    Returns:
        CPU seconds, those of them that make and write what leaves, and the bytes of the share.
    """
    shutil.rmtree("copy", ignore_errors=True)
    shutil.copytree("hospital", "copy")
    site, share = hospital.open_workspace(Path("copy")), Path("copy/share.parquet")
    made = type(load_construction(site.release().folder))
    named: dict[str, Any] = dict.fromkeys(without)
    parts: list[float] = []

    def timed(action: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            result = action(*arguments, **named)
            parts.append(time.process_time() - began)
            return result

        return run

    with ExitStack() as stack:
        for owner, name in ((made, "share_sentences"), (ShuffledWriter, "append"), (ShuffledWriter, "__exit__")):
            stack.enter_context(mock.patch.object(owner, name, timed(getattr(owner, name))))
        began = time.process_time()
        encoding.encode(site, read_corpus(notes), share, acceptance=_MEASUREMENT, **named)
        whole = time.process_time() - began
    return whole, sum(parts), share.stat().st_size


def cut(notes: Path) -> float:
    """CPU seconds without which no share is made."""
    began = time.process_time()
    for _ in tokenise_documents(read_corpus(notes)):
        pass
    return time.process_time() - began


if __name__ == "__main__":
    _, mode, where, *names = sys.argv
    if mode == "prepare":
        prepare(Path(where))
    elif mode == "cut":
        print(cut(Path(where)))
    else:
        print(*encode(Path(where), names))

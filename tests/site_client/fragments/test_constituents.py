"""Phrases of a constituency parser: on trees as Stanza keeps them, and nothing where it or its model is not there.

No model of Stanza can be had without its host, so the pipeline is one that knows its trees; documents, sentences and trees are Stanza's own.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from shared.errors import ConfigurationError
from site_client.fragments import constituents
from site_client.fragments.constituents import StanzaParser, load_stanza
from site_client.fragments.phrases import Kind, find_phrases

NP, VP = Kind.NOUN, Kind.VERB
TREES = {
    "She denies severe chest pain .": "(ROOT (S (NP (PRP She)) (VP (VBZ denies) (NP (JJ severe) (NN chest) (NN pain))) (. .)))",
    "History of asthma": "(ROOT (NP (NP (NN History)) (PP (IN of) (NP (NN asthma)))))",
    "last year": "(ROOT (NP-TMP (JJ last) (NN year)))",
    "seen by Rosa Diaz in clinic": "(ROOT (VP (VBN seen) (PP (IN by) (NP (NNP Rosa) (NNP Diaz))) (PP (IN in) (NP (NN clinic)))))",
    "in 3 days": "(ROOT (PP (IN in) (NP (CD 3) (NNS days))))",
}


def _stanza() -> Any:
    return pytest.importorskip("stanza", reason="the extra [stanza] is not installed")


def document(sentences: Sequence[Sequence[str]], trees: Mapping[str, str], words: Sequence[str] | None = None) -> Any:
    """A document of Stanza, with trees; `words` in place of the first sentence's."""
    stanza = _stanza()
    from stanza.models.constituency import tree_reader

    said = [list(words) if words is not None and not at else list(one) for at, one in enumerate(sentences)]
    made = stanza.Document([[{"id": at, "text": word} for at, word in enumerate(one, start=1)] for one in said])
    for sentence, tokens in zip(made.sentences, sentences, strict=True):
        sentence.constituency = tree_reader.read_trees(trees[" ".join(tokens)])[0]
    return made


def phrases(text: str, parse: Any) -> set[tuple[Kind, str]]:
    return {(one.kind, one.text) for one in find_phrases(text, StanzaParser("stanza", parse))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "She denies severe chest pain.",
            {(NP, "severe chest pain"), (VP, "denies severe chest pain")},
        ),
        ("History of asthma", {(NP, "history of asthma")}),
        ("last year", {(NP, "last year")}),
        # Names, digits and what is longer than four words are in no phrase, whatever parses.
        ("seen by Rosa Diaz in clinic", set()),
        ("in 3 days", set()),
        ("", set()),
    ],
)
def test_phrases_of_trees(text: str, expected: set[tuple[Kind, str]]) -> None:
    assert phrases(text, lambda sentences: document(sentences, TREES)) == expected


def test_a_sentence_that_comes_back_in_other_words_has_no_phrase() -> None:
    other = ["She", "denies", "severe", "chest", "pains", "."]
    assert phrases("She denies severe chest pain.", lambda asked: document(asked, TREES, other)) == set()
    fewer = {"History of asthma": "(ROOT (NP (NN History) (NN asthma)))"}
    assert phrases("History of asthma", lambda asked: document(asked, fewer)) == set()


def test_sentences_that_are_lost_end_it() -> None:
    with pytest.raises(ConfigurationError, match="expected 1 sentences of the parser, got 0"):
        phrases("History of asthma", lambda asked: document([], TREES))


def test_a_folder_without_a_model_is_refused_and_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stanza()

    def connect(*_: object) -> None:
        raise AssertionError("expected no connection, got one")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", connect)
    with pytest.raises(ConfigurationError, match="expected an English model of Stanza") as refusal:
        load_stanza(tmp_path)
    assert "AssertionError" not in repr(refusal.value.__cause__)
    # A list of models alone: the models themselves are missing, and stay so.
    (tmp_path / "resources.json").write_text(
        '{"en": {"lang_name": "English", "packages": {"default": {"tokenize": "x", "pos": "x", "constituency": "x"}}, '
        '"tokenize": {"x": {}}, "pos": {"x": {}}, "constituency": {"x": {}}}}'
    )
    with pytest.raises(ConfigurationError, match="expected an English model of Stanza") as refusal:
        load_stanza(tmp_path)
    assert "AssertionError" not in repr(refusal.value.__cause__)


def test_where_the_package_is_missing_or_old_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(constituents, "version", missing)
    with pytest.raises(ConfigurationError, match=r"pip install '\.\[stanza\]'"):
        load_stanza(tmp_path)
    _stanza()
    monkeypatch.setattr(constituents, "version", lambda name: "1.9.2")
    with pytest.raises(ConfigurationError, match=r"expected stanza 1\.13 or newer, got 1\.9\.2"):
        load_stanza(tmp_path)

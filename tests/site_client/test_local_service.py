"""What other programs of the hospital get, and that it is never a text that the pipeline has not been through."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from shared.document import Annotation, Document
from shared.errors import AnnotationError, ModelError
from site_client.api import Pipeline, hiding_mode, hiding_modes
from site_client.deid.choices.config import DeidConfig
from site_client.deid.choices.lists import HospitalLists
from site_client.errors import PolicyError
from site_client.local_service import MAX_CHARACTERS, MAX_NOTES, LocalService
from tests.site_client.local_http.asgi import OWN, PORT, Local

SECRET = "Wilhelmina"


class Stumbling:
    """Finds a name; falls over what a note asks it to fall over."""

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        for document in documents:
            for word, error in (
                ("BOOM", RuntimeError(document.text)),
                ("WEIGHTS", ModelError("expected weights, got none")),
            ):
                if word in document.text:
                    raise error
            at = document.text.find(SECRET)
            spans = (Annotation(at, at + len(SECRET), "PATIENT", confidence=0.9),) if at >= 0 else ()
            if "SPAN" in document.text:
                raise AnnotationError("expected a span inside the text, got another")
            yield Document(document.identifier, document.text, spans)


@pytest.fixture
def client() -> Local:
    return made()


def made(token: str = "right") -> Local:
    service = LocalService(lambda: Pipeline(Stumbling(), ("PATIENT",), release=7))
    return Local(service.guarded(PORT, "right"), {"authorization": f"Bearer {token}"})


def test_spans_come_as_offsets_and_texts_hidden(client: Local) -> None:
    text = f"\U0001f600 {SECRET} came."
    spans = [{"start": 2, "end": 12, "category": "PATIENT", "confidence": 0.9}]
    assert client.post("/v1/annotate", json={"text": text}).json() == {"spans": spans}
    hidden = {"text": "\U0001f600 [PATIENT] came.", "spans": spans, "mode": "redact"}
    assert client.post("/v1/deidentify", json={"text": text}).json() == hidden
    health = client.get("/v1/health").json()
    assert health == {"status": "ready", "release": 7, "categories": ["PATIENT"], "modes": hiding_modes()}
    assert "tag" not in health["modes"]


def test_the_lists_and_modes_of_the_hospital_hold_for_every_text() -> None:
    settled = DeidConfig(modes={"PATIENT": hiding_mode("fixed")}, lists=HospitalLists({}, {"HOSPITAL": ["Hollow"]}))
    service = LocalService(lambda: Pipeline(Stumbling(), ("PATIENT",), release=7, config=settled))
    client = Local(service.guarded(PORT, "right"), {"authorization": "Bearer right"})
    hidden = "\u2588" * 8 + " left [HOSPITAL]"
    note = f"{SECRET} left Hollow"
    done = client.post("/v1/deidentify", json={"text": note}).json()
    assert (done["text"], done["mode"]) == (hidden, "redact")
    batch = client.post("/v1/batch", json={"notes": [{"id": "1", "text": note}, {"id": "2", "text": "BOOM"}]}).json()
    assert [one.get("text") for one in batch["notes"]] == [hidden, None]


@pytest.mark.parametrize("bad", ["BOOM", "WEIGHTS", "SPAN", "\0", "\ud800"])
def test_a_note_that_fails_is_told_and_withheld_and_spoils_no_other(client: Local, bad: str) -> None:
    notes = [{"id": "a", "text": f"{SECRET} one"}, {"id": "b", "text": f"{SECRET} {bad}"}, {"id": "c", "text": "two"}]
    answer = client.post("/v1/batch", json={"notes": notes})
    assert answer.status_code == 200
    value = answer.json()
    assert SECRET not in answer.text
    assert value["failed"] == 1
    assert [one["id"] for one in value["notes"]] == ["a", "b", "c"]
    assert [one.get("text") for one in value["notes"]] == ["[PATIENT] one", None, "two"]
    assert set(value["notes"][1]) == {"id", "error"}


@pytest.mark.parametrize("path", ["/v1/annotate", "/v1/deidentify"])
@pytest.mark.parametrize(
    ("bad", "status"), [("BOOM", 500), ("WEIGHTS", 503), ("SPAN", 422), ("\0", 422), ("\ud800", 422)]
)
def test_what_fails_alone_is_an_error_without_its_text(client: Local, path: str, bad: str, status: int) -> None:
    answer = client.post(path, json={"text": f"{SECRET} {bad}"})
    assert answer.status_code == status
    assert SECRET not in answer.text
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/annotate", {}, 400),
        ("/v1/annotate", {"text": 1}, 400),
        ("/v1/annotate", {"text": "a", "mode": "redact"}, 400),
        ("/v1/annotate", {"text": "a" * (MAX_CHARACTERS + 1)}, 413),
        ("/v1/deidentify", {"text": "a", "mode": "tag"}, 422),
        ("/v1/deidentify", {"text": "a", "mode": "nothing"}, 422),
        ("/v1/deidentify", {"text": "a", "mode": None}, 400),
        ("/v1/batch", {}, 400),
        ("/v1/batch", {"notes": {}}, 400),
        ("/v1/batch", {"notes": ["a"]}, 400),
        ("/v1/batch", {"notes": [{"id": "a"}]}, 400),
        ("/v1/batch", {"notes": [{"text": "a"}]}, 400),
        ("/v1/batch", {"notes": [{"id": 1, "text": "a"}]}, 400),
        ("/v1/batch", {"notes": [{"id": "a", "text": "a", "more": 1}]}, 400),
        ("/v1/batch", {"notes": [{"id": "a", "text": "a"}] * 2}, 400),
        ("/v1/batch", {"notes": [{"id": str(n), "text": ""} for n in range(MAX_NOTES + 1)]}, 400),
        ("/v1/batch", {"notes": [{"id": "a", "text": "a"}], "mode": "tag"}, 422),
    ],
)
def test_bad_requests_are_refused_whole(client: Local, path: str, body: dict[str, Any], status: int) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert set(answer.json()) == {"error"}


def test_nobody_without_the_token_and_no_page_is_heard() -> None:
    body = {"text": SECRET}
    assert made("wrong").post("/v1/annotate", json=body).status_code == 401
    assert made("wrong").get("/v1/health").status_code == 401
    for headers in (
        {"origin": "https://elsewhere.example"},
        {"sec-fetch-site": "cross-site"},
        {"host": "rebound.example"},
    ):
        assert made().post("/v1/annotate", json=body, headers=headers).status_code in (403, 421)
    assert made().post("/v1/annotate", json=body, headers={"origin": OWN}).status_code == 200


def test_an_empty_batch_is_answered(client: Local) -> None:
    assert client.post("/v1/batch", json={"notes": []}).json() == {"notes": [], "failed": 0, "mode": "redact"}


def test_a_pipeline_that_may_not_be_used_any_more_answers_nothing() -> None:
    allowed = [Pipeline(Stumbling(), ("PATIENT",))]

    def current() -> Pipeline:
        if not allowed:
            raise PolicyError("expected a release that keeps the policy, got another")
        return allowed[0]

    client = Local(LocalService(current).guarded(PORT, "right"), {"authorization": "Bearer right"})
    note = {"text": f"{SECRET} came."}
    asked = {"/v1/annotate": note, "/v1/deidentify": note, "/v1/batch": {"notes": [{"id": "a", **note}]}}
    assert {client.post(path, json=body).status_code for path, body in asked.items()} == {200}
    allowed.clear()
    answers = [client.get("/v1/health"), *(client.post(path, json=body) for path, body in asked.items())]
    for answer in answers:
        assert answer.status_code == 503
        assert answer.json() == {"error": "expected a release that keeps the policy, got another"}


def test_who_comes_when_too_many_wait_is_told_to_come_again() -> None:
    import asyncio

    import httpx

    held = threading.Event()

    class Slow(Stumbling):
        def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
            held.wait(30)
            yield from super().annotate(documents)

    app = LocalService(lambda: Pipeline(Slow(), ("PATIENT",))).guarded(PORT, "t")

    async def many() -> list[int]:
        headers = {"authorization": "Bearer t"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=OWN, headers=headers) as client:
            asked = [asyncio.create_task(client.post("/v1/annotate", json={"text": "a"})) for _ in range(40)]
            # Those that are refused are answered while the first still runs.
            await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            held.set()
            return [(await one).status_code for one in asked]

    codes = asyncio.run(many())
    assert codes.count(200) == 16
    assert codes.count(503) == 24

from __future__ import annotations

import pytest

from site_client.local_http.gates import KEY_HEADER, BearerGate, BrowserGate


@pytest.mark.parametrize(
    ("header", "admitted"),
    [
        ("Bearer right", True),
        ("bearer right", True),
        ("Bearer  right ", True),
        ("Bearer wrong", False),
        ("Bearer", False),
        ("Basic right", False),
        ("right", False),
        ("Bearer right\udcff", False),
        ("", False),
    ],
)
def test_a_program_is_admitted_by_its_token_alone(header: str, admitted: bool) -> None:
    assert BearerGate("right").admits({"authorization": header}) is admitted
    assert not BearerGate("right").admits({})


def gate() -> tuple[BrowserGate, list[str]]:
    announced: list[str] = []
    return BrowserGate(announced.append, "review-1"), announced


def test_an_address_opens_one_window() -> None:
    made, announced = gate()
    made.offer()
    assert made.open("") is None
    assert made.open(announced[0] + "x") is None
    assert made.open(announced[0]) is not None
    assert made.open(announced[0]) is None


def test_nothing_opens_before_an_address_was_announced() -> None:
    made, _ = gate()
    assert made.open("") is None


def test_who_asks_again_and_again_gets_one_address() -> None:
    made, announced = gate()
    for _ in range(5):
        made.offer()
    assert len(announced) == 1
    assert made.open(announced[0]) is not None
    made.offer()
    assert len(announced) == 2
    assert announced[0] != announced[1]


def test_both_halves_of_one_session_are_needed() -> None:
    made, announced = gate()
    made.offer()
    one = made.open(announced[-1])
    made.offer()
    other = made.open(announced[-1])
    assert one is not None
    assert other is not None

    def admitted(cookie: str, key: str) -> bool:
        return made.admits({"cookie": f"else=1; review-1={cookie}; more=2", KEY_HEADER: key})

    assert admitted(one.cookie, one.key)
    assert admitted(other.cookie, other.key)
    assert not admitted(one.cookie, other.key)
    assert not admitted(one.cookie, "")
    assert not admitted("", one.key)
    assert not admitted(one.cookie, one.cookie)
    assert not made.admits({})
    # A server at another port has set a cookie of the same name.
    assert not made.admits({"cookie": f"review-1={one.cookie}; review-1={one.cookie}", KEY_HEADER: one.key})


def test_no_repr_shows_a_secret() -> None:
    made, announced = gate()
    made.offer()
    session = made.open(announced[0])
    assert session is not None
    assert session.key not in repr(session)
    assert session.cookie not in repr(session)

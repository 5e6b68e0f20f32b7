"""Events of many channels are handled in turn, and what they hand over as well."""

import threading

from bot.answering.in_turn import InTurn
from bot.slack.place import PLACE, place_of
from tests.waiting import PATIENCE


def test_many_events_of_one_channel_do_not_delay_one_of_another() -> None:
    events, listeners = InTurn(1), InTurn(1)
    gate, order = threading.Event(), list[str]()

    def handle(name: str) -> None:
        gate.wait(PATIENCE)
        listeners.submit(order.append, f"{PLACE.get()} {name}")

    held = listeners.submit(gate.wait, PATIENCE)
    for channel, names in (("C1", "abcdef"), ("C2", "g")):
        PLACE.set(channel)
        for name in names:
            events.submit(handle, name)
    gate.set()
    assert held.result(PATIENCE)
    events.shutdown()
    listeners.shutdown()
    assert sorted(order) == ["C1 a", "C1 b", "C1 c", "C1 d", "C1 e", "C1 f", "C2 g"]
    assert order.index("C2 g") <= 2


def test_every_kind_of_payload_has_a_place() -> None:
    assert place_of({"event": {"channel": "C1", "user": "U1"}}) == "C1"
    assert place_of({"channel_id": "C2", "user_id": "U1"}) == "C2"
    assert place_of({"channel": {"id": "C3"}, "user": {"id": "U1"}}) == "C3"
    assert place_of({"view": {}, "user": {"id": "U1"}}) == "U1"
    others: list[object] = [None, [], "x", {}, {"event": None}, {"event": {"channel": 5}}]
    assert {place_of(each) for each in others} == {""}

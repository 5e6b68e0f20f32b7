"""Events arrive several times, late, in another order, or after their message was deleted."""

import random
import time
from typing import Any

from tests.chaos.catalogue import item
from tests.chaos.ledger import CHANNELS, Asked, Ledger
from tests.chaos.pages import service
from tests.chaos.system import System
from tests.chaos.trial import Trial

GROUP = "Slack's events"
PAGE = 7
TEXT = f"<@U0FOOTNOTE> what is the limit of {service(PAGE)}?"
Json = dict[str, Any]


def envelope(kind: str, channel: str, ts: str, text: str = TEXT, **more: Any) -> Json:
    """Return the body of one event, as Slack delivers it."""
    event = {
        "type": kind,
        "channel": channel,
        "channel_type": "channel",
        "user": "U0ONCALL",
        "text": text,
        "ts": ts,
        **more,
    }
    return {
        "type": "event_callback",
        "team_id": "T0SANDBOX",
        "api_app_id": "A0FOOTNOTE",
        "event_id": f"Ev{random.getrandbits(48):X}",
        "event_time": int(time.time()),
        "event": event,
    }


def both(channel: str, ts: str, text: str = TEXT, **more: Any) -> list[Json]:
    """Return the two events of one mention."""
    return [envelope(kind, channel, ts, text, **more) for kind in ("app_mention", "message")]


def new_ts(number: int, ago: int = 0) -> str:
    return f"{int(time.time()) - ago}.{700_000 + number:06d}"


def mention(ledger: Ledger, channel: str, ts: str) -> Asked:
    return ledger.note(Asked(PAGE, "mention", channel, ts, ts))


@item(
    GROUP,
    breaks="every event three times and shuffled, late, out of order, deleted first",
    holds="each question has one answer; a deleted one has none",
    minutes=3,
    quick=True,
)
def events(trial: Trial) -> None:
    with trial.system() as system:
        system.model.behave(delay=0.3, jitter=0.5)
        system.run()
        system.indexed()
        ledger = Ledger(system.slack)
        bodies: list[Json] = []
        for number in range(trial.pick(30, 9)):
            channel, ts = CHANNELS[number % 3], new_ts(number)
            mention(ledger, channel, ts)
            bodies += both(channel, ts) * 3
        trial.chance.shuffle(bodies)
        system.slack.deliver(*bodies)
        ledger.wait(120)
        trial.row("each event three times, shuffled", ledger.count())
        again = [each | {"retry_num": 2, "retry_reason": "timeout"} for each in bodies[:20]]
        system.slack.deliver(*again)
        fence(system, ledger)
        doubled = ledger.count().doubled
        trial.row("delivered again after the answer", doubled=doubled, most={"doubled": 0})
        if not trial.quick:
            orders(trial, system)


def fence(system: System, ledger: Ledger) -> None:
    """Ask one more question: after its answer, the events before it are decided."""
    ledger.ask()
    ledger.wait(120)


def orders(trial: Trial, system: System) -> None:
    ledger = Ledger(system.slack, "o")
    channel = CHANNELS[0]
    first, second = both(channel, new_ts(41))
    mention(ledger, channel, first["event"]["ts"])
    system.slack.deliver(second)
    ledger.wait(60)
    system.slack.deliver(first)
    fence(system, ledger)
    trial.row("mention event after the answer to the message event", ledger.count())

    ledger = Ledger(system.slack, "l")
    late = new_ts(42, ago=7_200)
    mention(ledger, channel, late)
    system.slack.deliver(*both(channel, late))
    ledger.wait(60)
    trial.row("two hours late", ledger.count())

    gone = new_ts(43)
    previous = {"ts": gone, "user": "U0ONCALL", "text": TEXT}
    deletion = envelope(
        "message", channel, new_ts(44), "", subtype="message_deleted", hidden=True,
        deleted_ts=gone, previous_message=previous,
    )  # fmt: skip
    ledger = Ledger(system.slack, "g")
    system.slack.deliver(deletion)
    system.slack.deliver(*both(channel, gone))
    fence(system, ledger)
    trial.row(
        "deleted before it is delivered",
        replies_to_deleted=len(ledger.replies().get((channel, gone), [])),
        most={"replies_to_deleted": 0},
    )

    ledger = Ledger(system.slack, "r")
    root, reply = new_ts(45), new_ts(46)
    mention(ledger, channel, root)
    text = f"and what is the limit of {service(PAGE)}?"
    system.slack.deliver(envelope("message", channel, reply, text, thread_ts=root))
    system.slack.deliver(*both(channel, root))
    ledger.wait(60)
    fence(system, ledger)
    trial.row("a reply delivered before the root of its thread", ledger.count())

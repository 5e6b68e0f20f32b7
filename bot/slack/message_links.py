"""Messages -> their addresses in Slack, as far as Slack tells them."""

import logging
from collections.abc import Iterable

from slack_sdk import WebClient

from bot.reading.addresses import openable
from bot.report import Asked
from bot.slack.clients import GONE, SLACK_FAILED, slack_error

log = logging.getLogger(__name__)

_MOST = 60


def permalink(client: WebClient, channel: str, ts: str) -> str | None:
    """Address of a message; None where Slack does not tell one."""
    try:
        return _ask(client, channel, ts)
    except SLACK_FAILED as error:
        log.info("a message in %s is not linked: %s", channel, slack_error(error))
        return None


def permalinks(questions: Iterable[Asked], client: WebClient) -> dict[str, str]:
    """Address by answer id; a Slack that is away is asked only once."""
    links: dict[str, str] = {}
    in_slack = [asked for asked in questions if asked.ts.replace(".", "").isdecimal()]
    for asked in in_slack[:_MOST]:
        try:
            link = _ask(client, asked.channel, asked.ts)
        except SLACK_FAILED as error:
            code = slack_error(error)
            if code in GONE:
                continue
            log.warning("Questions are not linked to Slack: %s.", code)
            break
        if link:
            links[asked.answer_id] = link
    return links


def _ask(client: WebClient, channel: str, ts: str) -> str | None:
    link = client.chat_getPermalink(channel=channel, message_ts=ts).get("permalink")
    return openable(link) if isinstance(link, str) else None

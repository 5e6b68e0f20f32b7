"""Questions -> their addresses in Slack, as far as Slack tells them."""

import logging
from collections.abc import Iterable
from typing import Any

from slack_sdk import WebClient

from bot.clients import GONE, SLACK_FAILED, slack_error
from bot.report import Asked

log = logging.getLogger(__name__)

_MOST = 60


def permalinks(questions: Iterable[Asked], client: WebClient) -> dict[str, str]:
    """Address by answer id; a Slack that is away is asked only once."""
    links: dict[str, str] = {}
    in_slack = [asked for asked in questions if asked.ts.replace(".", "").isdecimal()]
    for asked in in_slack[:_MOST]:
        try:
            found: Any = client.chat_getPermalink(channel=asked.channel, message_ts=asked.ts)
        except SLACK_FAILED as error:
            code = slack_error(error)
            if code in GONE:
                continue
            log.warning("Questions are not linked to Slack: %s.", code)
            break
        link = found.get("permalink")
        if isinstance(link, str) and link.startswith(("https://", "http://")):
            links[asked.answer_id] = link
    return links

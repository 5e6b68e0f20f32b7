"""The questions of a report -> their addresses in Slack, as far as Slack tells them."""

import logging
from collections.abc import Iterable

from slack_sdk import WebClient

from bot.report.figures import Asked
from bot.slack.clients import GONE, SLACK_FAILED, slack_error
from bot.slack.message_links import ask_permalink

log = logging.getLogger(__name__)

_MOST = 60


def permalinks(questions: Iterable[Asked], client: WebClient) -> dict[str, str]:
    """Address by answer id; a Slack that is away is asked only once."""
    links: dict[str, str] = {}
    in_slack = [asked for asked in questions if asked.ts.replace(".", "").isdecimal()]
    for asked in in_slack[:_MOST]:
        try:
            link = ask_permalink(client, asked.channel, asked.ts)
        except SLACK_FAILED as error:
            code = slack_error(error)
            if code in GONE:
                continue
            log.warning("Questions are not linked to Slack: %s.", code)
            break
        if link:
            links[asked.answer_id] = link
    return links

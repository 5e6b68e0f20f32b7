"""The questions of a report -> their addresses in Slack."""

import logging
from collections.abc import Iterable

from slack_sdk import WebClient

from bot.report.figures import AskedQuestion
from bot.slack.clients import GONE, SLACK_FAILED, slack_error
from bot.slack.message_links import ask_permalink

log = logging.getLogger(__name__)

_MOST = 60


def permalinks(questions: Iterable[AskedQuestion], client: WebClient) -> dict[str, str]:
    """Answer id -> address of its question in Slack, for the first ones.

    Deleted messages are skipped; any other failure of Slack ends the requests."""
    links: dict[str, str] = {}
    in_slack = [question for question in questions if question.ts.replace(".", "").isdecimal()]
    for question in in_slack[:_MOST]:
        try:
            link = ask_permalink(client, question.channel, question.ts)
        except SLACK_FAILED as error:
            code = slack_error(error)
            if code in GONE:
                continue
            log.warning("Questions are not linked to Slack: %s.", code)
            break
        if link:
            links[question.id] = link
    return links

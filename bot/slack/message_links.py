"""A message -> its address in Slack."""

import logging

from slack_sdk import WebClient

from bot.reading.addresses import openable
from bot.slack.clients import SLACK_FAILED, slack_error

log = logging.getLogger(__name__)


def permalink(client: WebClient, channel: str, ts: str) -> str | None:
    """Return the address of a message, or None if Slack gives none."""
    try:
        return ask_permalink(client, channel, ts)
    except SLACK_FAILED as error:
        log.info("a message in %s is not linked: %s", channel, slack_error(error))
        return None


def ask_permalink(client: WebClient, channel: str, ts: str) -> str | None:
    """Return the address of a message. Raises the errors in ``SLACK_FAILED``."""
    link = client.chat_getPermalink(channel=channel, message_ts=ts).get("permalink")
    return openable(link) if isinstance(link, str) else None

"""The other transport: signed HTTP requests to the app's events endpoint."""

import asyncio
import json
import time
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

from slack_sdk.signature import SignatureVerifier

from bot.sandbox.events.delivery import Acknowledgement, NoAcknowledgement, Pending, Retry
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.rules import Rules

SIGNING_SECRET = "sandbox"  # noqa: S105 - the fixed secret of a workspace that only exists here


class HttpEvents:
    """Delivers to one URL, as Slack does to an app without Socket Mode."""

    def __init__(self, url: str, rules: Rules) -> None:
        self._url = url
        self._rules = rules
        self._opener = build_opener(ProxyHandler({}))
        self._verifier = SignatureVerifier(SIGNING_SECRET)

    async def send(self, kind: str, payload: Json, retry: Retry | None) -> Pending:
        """The future is done already: over HTTP a payload is sent when the app has answered."""
        loop = asyncio.get_running_loop()
        outcome: Pending = loop.create_future()
        outcome.set_result(await asyncio.to_thread(self._request, kind, payload, retry))
        return outcome

    def _request(
        self, kind: str, payload: Json, retry: Retry | None
    ) -> Acknowledgement | NoAcknowledgement:
        body, content_type = _encoded(kind, payload)
        timestamp = str(int(time.time()))
        signature = self._verifier.generate_signature(timestamp=timestamp, body=body)
        headers = {
            "Content-Type": content_type,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": str(signature),
        }
        if retry:
            headers["X-Slack-Retry-Num"] = str(retry.attempt)
            headers["X-Slack-Retry-Reason"] = retry.reason
        request = Request(self._url, body.encode(), headers)  # noqa: S310 - from the command line
        try:
            with self._opener.open(request, timeout=self._rules.ack_seconds) as response:
                return Acknowledgement(_payload(response.read()))
        except HTTPError as error:
            with error:
                return NoAcknowledgement(
                    "http_error", final=error.headers.get("X-Slack-No-Retry") == "1"
                )
        except TimeoutError:
            return NoAcknowledgement("http_timeout")
        except (URLError, OSError) as error:
            late = isinstance(getattr(error, "reason", None), TimeoutError)
            return NoAcknowledgement("http_timeout" if late else "connection_failed")


def _encoded(kind: str, payload: Json) -> tuple[str, str]:
    """Body and content type: JSON for events, a form for commands, JSON in a form for others."""
    if kind == "events_api":
        return json.dumps(payload), "application/json"
    fields = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return urlencode(fields), "application/x-www-form-urlencoded"


def _payload(body: bytes) -> Json | None:
    if not body.strip():
        return None
    try:
        data = json.loads(body)
    except ValueError:
        return {"text": body.decode("utf-8", "replace")}
    return data if isinstance(data, dict) else None

"""The people and channels at the start of every sandbox, and the objects for others."""

import re
from dataclasses import dataclass
from typing import Any

from bot.sandbox.workspace.refusal import Json

CREATED = 1_764_000_000


SAMPLE_ALERT: Json = {
    "bot": "B0ALERTS",
    "text": "",
    "attachments": [
        {
            "color": "danger",
            "fallback": "[FIRING:1] PaymentsSignatureFailures payments-api",
            "title": "[FIRING:1] PaymentsSignatureFailures (payments-api critical)",
            "title_link": "https://alertmanager.example.com/#/alerts",
            "text": "3.1% of requests failed signature verification during 10 minutes.",
            "fields": [
                {"title": "Service", "value": "payments-api", "short": True},
                {"title": "Severity", "value": "critical", "short": True},
            ],
            "footer": "Alertmanager",
        }
    ],
}


@dataclass(frozen=True)
class BotIdentity:
    """Ids and name of the app under trial in this workspace."""

    user_id: str = "U0FOOTNOTE"
    bot_id: str = "B0FOOTNOTE"
    app_id: str = "A0FOOTNOTE"
    name: str = "Footnote"


def team(team_id: str = "T0SANDBOX", name: str = "Sandbox", domain: str = "sandbox") -> Json:
    return {
        "id": team_id,
        "name": name,
        "domain": domain,
        "email_domain": "",
        "url": f"https://{domain}.slack.com/",
        "icon": {"image_default": True},
    }


def user(user_id: str, team_id: str, name: str | None = None, /, **fields: Any) -> Json:
    """Return a users.info object; ``fields`` replace its values."""
    name = name or readable(user_id)
    real_name = str(fields.get("real_name") or name.replace(".", " ").title())
    team_id = str(fields.pop("team_id", team_id))
    profile = {
        "real_name": real_name,
        "real_name_normalized": real_name,
        "display_name": name,
        "display_name_normalized": name,
        "title": "",
        "team": team_id,
        **fields.pop("profile", {}),
    }
    return {
        "id": user_id,
        "team_id": team_id,
        "name": name,
        "deleted": False,
        "color": "9f69e7",
        "real_name": real_name,
        "tz": "Europe/Amsterdam",
        "tz_label": "Central European Time",
        "tz_offset": 3600,
        "profile": profile,
        "is_admin": False,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": False,
        "is_ultra_restricted": False,
        "is_bot": False,
        "is_app_user": False,
        "updated": CREATED,
        **fields,
    }


def channel(channel_id: str, name: str | None = None, /, **fields: Any) -> Json:
    """Return a conversations.info object; the first letter of the id says its kind."""
    kind = channel_id[:1]
    direct = kind == "D"
    common: Json = {
        "id": channel_id,
        "created": CREATED,
        "is_archived": False,
        "is_im": direct,
        "is_org_shared": False,
        "updated": CREATED,
    }
    if direct:
        return {**common, "user": "U" + channel_id[1:], **fields}
    name = name or readable(channel_id)
    return {
        **common,
        "name": name,
        "name_normalized": name,
        "is_channel": kind == "C",
        "is_group": kind == "G",
        "is_mpim": False,
        "is_private": kind == "G",
        "is_general": False,
        "is_shared": False,
        "is_ext_shared": False,
        "is_pending_ext_shared": False,
        "is_member": True,
        "unlinked": 0,
        "creator": "U0ONCALL",
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
        "previous_names": [],
        **fields,
    }


def default_users(team_id: str, bot: BotIdentity) -> dict[str, Json]:
    people = [
        user("U0ONCALL", team_id, "oncall", real_name="On-call engineer"),
        user("U0ENGINEER", team_id, "engineer", real_name="Engineer"),
        user("U0GUEST", team_id, "guest", real_name="Guest",
             is_restricted=True, is_ultra_restricted=True),
        user("U0EXTERNAL", "T0OTHER", "partner", real_name="Partner (other company)",
             is_stranger=True),
        user("U0ALERTS", team_id, "alerts", real_name="Alerts", is_bot=True,
             profile={"bot_id": "B0ALERTS", "api_app_id": "A0ALERTS"}),
        user("USLACKBOT", team_id, "slackbot", real_name="Slackbot"),
        bot_user(bot, team_id),
    ]  # fmt: skip
    return {person["id"]: person for person in people}


def bot_user(bot: BotIdentity, team_id: str) -> Json:
    return user(
        bot.user_id,
        team_id,
        bot.name.lower(),
        real_name=bot.name,
        is_bot=True,
        profile={
            "display_name": bot.name,
            "bot_id": bot.bot_id,
            "api_app_id": bot.app_id,
            "always_active": True,
        },
    )


def default_channels() -> dict[str, Json]:
    places = [
        channel("C0GENERAL", "general", is_general=True),
        channel("C0INCIDENT", "payments-oncall"),
        channel("C0PRIVATE", "platform-private", is_private=True, is_channel=False, is_group=True),
        channel("C0SHARED", "partners", is_shared=True, is_ext_shared=True,
                connected_team_ids=["T0OTHER"]),
        channel("D0ONCALL"),
    ]  # fmt: skip
    return {place["id"]: place for place in places}


def readable(identifier: str) -> str:
    """Make a name from an id: U0SAM -> sam."""
    return re.sub(r"^[A-Z]0?", "", identifier).lower() or identifier.lower()

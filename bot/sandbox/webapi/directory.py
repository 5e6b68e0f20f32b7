"""auth.*, users.*, usergroups.*, team.* and bots.*."""

from bot.sandbox.events.sockets import SocketMode
from bot.sandbox.webapi.call import APP_TOKEN, method
from bot.sandbox.webapi.conversations import paged
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.places import CREATED
from bot.sandbox.workspace.refusal import Json, Refusal


@method("auth.test")
def auth_test(slack: Slack, _args: Json) -> Json:
    space = slack.workspace
    return {
        "url": space.team["url"],
        "team": space.team["name"],
        "user": space.bot.name.lower(),
        "team_id": space.team_id,
        "user_id": space.bot.user_id,
        "bot_id": space.bot.bot_id,
        "is_enterprise_install": False,
    }


@method("apps.connections.open", token=APP_TOKEN)
def open_connection(slack: Slack, _args: Json) -> Json:
    transport = slack.delivery.transport
    if not isinstance(transport, SocketMode):
        raise Refusal("socket_mode_not_enabled")
    ticket = transport.new_ticket()
    return {"url": f"{slack.base_url.replace('http', 'ws', 1)}/link/?ticket={ticket}"}


@method("api.test")
def api_test(_slack: Slack, args: Json) -> Json:
    return {"args": args}


@method("users.info", "user", scopes=("users:read",))
def user_info(slack: Slack, args: Json) -> Json:
    return {"user": slack.workspace.user(args["user"])}


@method("users.list", scopes=("users:read",))
def user_list(slack: Slack, args: Json) -> Json:
    people = [person for person in slack.workspace.users.values() if "error" not in person]
    page, cursor = paged(people, args, 200)
    return {"members": page, "cache_ts": CREATED, "response_metadata": {"next_cursor": cursor}}


@method("usergroups.list", scopes=("usergroups:read",))
def usergroups(slack: Slack, _args: Json) -> Json:
    return {"usergroups": slack.workspace.usergroups}


@method("team.info", scopes=("team:read",))
def team_info(slack: Slack, _args: Json) -> Json:
    return {"team": slack.workspace.team}


@method("bots.info", "bot", scopes=("users:read",))
def bot_info(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    bot_id = str(args["bot"])
    if bot_id == space.bot.bot_id:
        fields = {
            "name": space.bot.name,
            "user_id": space.bot.user_id,
            "app_id": space.bot.app_id,
        }
    elif bot_id in space.bots:
        fields = {"app_id": "A0" + bot_id[2:], **space.bots[bot_id]}
    else:
        raise Refusal("bot_not_found")
    icons: Json = {}
    return {"bot": {"id": bot_id, "deleted": False, "updated": CREATED, "icons": icons, **fields}}

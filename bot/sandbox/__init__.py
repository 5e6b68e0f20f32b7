"""A local Slack workspace: Web API, Socket Mode or signed HTTP events, and a page to talk in.

People post (on the page or by ``/sandbox/*``) -> events -> the bot under trial -> Web API calls ->
workspace -> page. ``server`` serves it; ``control`` lists the endpoints for people and tests.
"""

"""A local Slack workspace: Web API, Socket Mode or signed HTTP events, and a page to talk in.

What flows through: people post (page or ``/sandbox/*``) -> events -> the bot under trial -> Web API
calls -> workspace -> page. ``server`` holds it together; ``control`` lists the endpoints for people
and tests.
"""

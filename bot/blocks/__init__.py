"""An Answer -> Slack messages with text, blocks, sources and buttons. Pure."""

from bot.blocks.render import render_answer, render_body, render_json, render_runbook

__all__ = ["render_answer", "render_body", "render_json", "render_runbook"]

"""The prompts, as files that are reviewed as prose."""

from agent.prompts.load import prompt

__all__ = ["prompt"]

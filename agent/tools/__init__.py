"""The tools: a tool call of the model -> its result. Each tool has one file."""

from agent.tools.base import Corpus, Tool, ToolResult, definitions, run_tool, taken_in
from agent.tools.registry import TOOLS

__all__ = ["TOOLS", "Corpus", "Tool", "ToolResult", "definitions", "run_tool", "taken_in"]

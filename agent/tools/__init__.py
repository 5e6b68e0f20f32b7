"""A tool call of the model -> its result: a file a tool, and the list of them."""

from agent.tools.base import Corpus, Tool, ToolResult, definitions, run_tool, taken_in
from agent.tools.registry import TOOLS

__all__ = ["TOOLS", "Corpus", "Tool", "ToolResult", "definitions", "run_tool", "taken_in"]

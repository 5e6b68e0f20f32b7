"""The tools that the model may call, in the order in which it is told of them."""

from agent.tools.base import Tool
from agent.tools.list_documents import ListDocuments
from agent.tools.read_document import ReadDocument
from agent.tools.search_docs import SearchDocs

TOOLS: tuple[Tool, ...] = (SearchDocs(), ReadDocument(), ListDocuments())

"""All tools, in the order in which the model gets them."""

from agent.tools.base import Tool
from agent.tools.list_documents import ListDocuments
from agent.tools.read_document import ReadDocument
from agent.tools.search_docs import SearchDocs

TOOLS: tuple[Tool, ...] = (SearchDocs(), ReadDocument(), ListDocuments())

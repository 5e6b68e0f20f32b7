"""``list_documents``: a folder of the docs -> the documents in it."""

from typing import Any

from pydantic import Field

from agent.errors import ToolError
from agent.searches import Retrieval
from agent.tools.base import Arguments, Corpus, ToolResult, plain_schema
from agent.trace import Progress

_MOST = 150


class Folder(Arguments):
    path: str | None = Field(
        default=None, description="Folder or beginning of a path; leave it out for all pages."
    )


class ListDocuments:
    """Lists documents, for questions about the docs themselves."""

    name = "list_documents"
    arguments: type[Arguments] = Folder

    def description(self, corpus: Corpus) -> str:  # noqa: ARG002  # the search says what there is
        return (
            "List the pages of the docs: path, title, last change, owner. Call it when somebody "
            "asks which docs or runbooks there are, or how old or whose a page is. It shows no "
            "text: to answer a question of substance, search instead."
        )

    def schema(self, corpus: Corpus) -> dict[str, Any]:  # noqa: ARG002  # the same for every corpus
        return plain_schema(self.arguments)

    def progress(self, arguments: Folder) -> Progress:
        return Progress("reading", arguments.path or "the list of pages")

    def run(self, arguments: Folder, retrieval: Retrieval) -> ToolResult:
        prefix = (arguments.path or "").strip().strip("/")
        pages = retrieval.index.documents(prefix)
        if not pages:
            raise ToolError(f"No page's path begins with {prefix[:200]!r}.")
        listed = [
            {
                "path": page.path,
                "title": page.title,
                "updated": page.updated_at.date().isoformat() if page.updated_at else None,
                "owner": page.owner,
            }
            for page in pages[:_MOST]
        ]
        facts = {"pages": listed, "count": len(pages)}
        if len(pages) > _MOST:
            facts["note"] = f"Only the first {_MOST} are listed: name a folder to see others."
        return ToolResult(facts=facts)

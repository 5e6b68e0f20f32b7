"""A real index of a few pages, and a way to ask the agent against a scripted model over HTTP."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from agent.answer import Answer
from agent.conversation import Conversation, Turn
from agent.loop import Progress, build_agent
from agent.settings import AgentSettings
from ingest.embedding.embedder import open_embedder
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.fakes.messages_server import MessagesServer, Rule
from tests.fakes.script import Step

PAGES = {
    "payments-runbook.md": """# Payments runbook

## Rotate the signing key

Make a new key with `scripts/genkey.sh` and store it in Vault at `secret/payments/signing`.

Deploy `payments-api` with `PAYMENTS_KEY_VERSION` bumped. Both versions are valid for 24 hours.

## Error PAY-4031

PAY-4031 means that signature verification failed. A client signs with a revoked key version:
look at `key_version` in the request log.
"""
    + "\nThe request log is kept for 30 days in the logging cluster.\n" * 3,
    "oncall/ledger-failover.md": """# Ledger database failover

## Promote the replica

```bash
pg_ctl promote -D /var/lib/postgresql/data
```

The failover takes about 40 seconds. Stop when the replica's lag is over 5 seconds.
""",
    "people/remote-work.md": """# Remote work

After the 90-day probation everybody may work remotely up to 3 days a week.
""",
    "oncall/long.md": "# Long page\n\n"
    + "\n".join(
        f"## Part {n}\n\nPart {n} explains gadget number {n} at length. {'It is a gadget. ' * 30}\n"
        for n in range(40)
    ),
}


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index of the pages."""
    folder = tmp_path_factory.mktemp("agent")
    for path, text in PAGES.items():
        page = folder / "docs" / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    settings = IndexSettings(docs_repo=str(folder / "docs"), data_dir=folder / "data")
    embedder = open_embedder(settings.embedder_source)
    index = open_index(settings, embedder)
    run_ingest(settings, index, embedder)
    yield index
    index.close()


@pytest.fixture(scope="session")
def chunk(index: Index) -> Callable[[str, str], str]:
    """The id of the chunk of a page that contains a text."""

    def find(path: str, text: str) -> str:
        page = index.document(path)
        assert page is not None
        return next(passage.id for passage in page.passages if text in passage.text)

    return find


@pytest.fixture(scope="session")
def pay_4031(chunk: Callable[[str, str], str]) -> str:
    """The chunk that explains PAY-4031."""
    return chunk("payments-runbook.md", "verification failed")


def thread(question: str, *earlier: tuple[str, str]) -> Conversation:
    """A conversation; earlier turns are (speaker's name, text), and ``footnote`` is Footnote."""
    turns = [Turn("footnote" if n == "footnote" else "person", n, text) for n, text in earlier]
    return Conversation((*turns, Turn("person", "oncall", question)))


@dataclass
class Asked:
    """An answer, with the requests and the progress on the way to it."""

    answer: Answer
    server: MessagesServer
    progress: list[Progress]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.server.requests]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the trace's events, in order."""
        return [event.kind for event in self.answer.trace.events]


Ask = Callable[..., Asked]


@pytest.fixture
def ask(index: Index) -> Ask:
    """Ask the agent; the model follows ``script``. Nothing it sends may be refused by the API."""

    def ask(
        script: Sequence[Step | Rule] | Rule,
        question: str | Conversation = "What does error PAY-4031 mean?",
        *,
        refusals: int = 0,
        **settings: Any,
    ) -> Asked:
        conversation = thread(question) if isinstance(question, str) else question
        progress: list[Progress] = []
        with MessagesServer(script) as server:
            given = {"api_key": "test", "base_url": server.url, **settings}
            agent = build_agent(index, AgentSettings(**given))
            answer = agent.answer(conversation, on_progress=progress.append)
        assert len(server.refused) == refusals, [refusal.reason for refusal in server.refused]
        return Asked(answer, server, progress)

    return ask

"""Time that the agent's own code adds to model and search."""

import time
from contextlib import closing
from pathlib import Path

from anthropic import Anthropic

from agent.conversation import Conversation, Turn
from agent.grounding import CitableText, ground
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.documents import SearchResult
from ingest.index import Index, open_index
from ingest.index.live import LiveIndex
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.bench.docs import SAMPLES
from tests.bench.measure import Sheet, percentiles, seconds
from tests.fakes.messages_server import MessagesServer
from tests.fakes.rule_followers import Request
from tests.fakes.script import Turn as Says
from tests.ingest.embedding.hashing import HashingEmbedder

ROUNDS = 30
SEARCHES = 3


class TimedIndex(Index):
    """An index that records the seconds of its searches."""

    spent = 0.0

    def search(self, *given: object, **named: object) -> SearchResult:
        result: list[SearchResult] = []
        self.spent += seconds(
            lambda: result.append(super(TimedIndex, self).search(*given, **named))  # type: ignore[arg-type]  # passed through
        )
        return result[0]


def measure_answering(sheet: Sheet, work: Path) -> None:
    sheet.head(f"Answering ({ROUNDS} answers of {SEARCHES} searches, model on loopback)")
    settings = IndexSettings(docs_repo=str(SAMPLES), data_dir=work / "data")
    embedder = HashingEmbedder()
    with closing(open_index(settings, embedder)) as first:
        run_ingest(settings, first, embedder)
    with closing(TimedIndex(LiveIndex(settings.data_dir, None, lambda: embedder))) as index:
        _measure_loop(sheet, index)
        _measure_grounding(sheet, index)


def _measure_loop(sheet: Sheet, index: TimedIndex) -> None:
    index.warm()

    def model(request: Request) -> Says:
        if "tools" not in request.body:
            return Says(text="Hello.")
        number = sum(message["role"] == "assistant" for message in request.body["messages"])
        if number < SEARCHES:
            return Says(tools=[("search_docs", {"query": f"payout runbook step {number}"})])
        return Says(text="The docs do not say.")

    taken = []
    with MessagesServer(model) as server:
        bare = _bare_request(server.url)
        agent = build_agent(index, AgentSettings(api_key="bench", base_url=server.url))
        for number in range(ROUNDS):
            # Another question each time: a repeated one is answered from the cache.
            question = Conversation(
                (Turn("person", "oncall", f"How do payouts work, part {number}?"),)
            )
            before = index.spent
            requests = len(server.requests)
            whole = seconds(lambda q=question: agent.answer(q))  # type: ignore[misc]  # bound as default
            steps = len(server.requests) - requests
            taken.append((whole - (index.spent - before)) / steps * 1000)
    p50, p95 = percentiles(taken[1:])
    sheet.line("a bare request of the SDK to the same server", f"p50 {bare:.1f} ms")
    sheet.line(
        "a step, without its searches and the bare request",
        f"p50 {p50 - bare:.1f} ms, p95 {p95 - bare:.1f} ms",
        aim="< 15 ms",
        reached=p50 - bare < 15,
    )


def _bare_request(url: str) -> float:
    """Measure model and transport alone: here, a server that answers at once."""
    client = Anthropic(base_url=url, api_key="bench", max_retries=0)

    def ask() -> None:
        with client.messages.stream(
            model="claude-opus-5-5", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]
        ) as stream:
            stream.get_final_message()

    taken = [seconds(ask) * 1000 for _ in range(ROUNDS)]
    return percentiles(taken[1:])[0]


def _measure_grounding(sheet: Sheet, index: Index) -> None:
    passages = [
        p
        for info in index.documents()
        if (page := index.document(info.path))
        for p in page.passages
    ]
    sources = [CitableText(passage.id, passage.text) for passage in passages[:12]]
    claims = [
        f"{passage.text.splitlines()[-1]} Run `kubectl get pods -n pay` [{passage.id}]."
        for passage in passages[:12]
    ]
    answer = ("\n\n".join(claims) * 10)[:4_000]
    begun = time.process_time()
    taken = [
        seconds(lambda: ground(answer, sources, question="How do I restart it?"))
        for _ in range(ROUNDS)
    ]
    # One thread and nothing to wait for: its processor time is what it takes on an idle machine.
    busy = (time.process_time() - begun) / ROUNDS * 1000
    sheet.line(
        f"grounding check, {len(answer):,} characters, {len(sources)} chunks",
        f"{busy:.1f} ms of processor time, p50 {percentiles(taken)[0] * 1000:.1f} ms",
        aim="< 10 ms",
        reached=busy < 10,
    )

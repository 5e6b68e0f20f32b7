"""What the agent's own code adds to the time of model and search."""

from contextlib import closing
from pathlib import Path

from agent.citations import Source, ground
from agent.conversation import Conversation, Turn
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.documents import SearchResult
from ingest.index import Index, open_index
from ingest.pipeline import run_ingest
from ingest.settings import IndexSettings
from tests.bench.docs import SAMPLES
from tests.bench.measure import Sheet, percentiles, seconds
from tests.fakes.messages_server import MessagesServer
from tests.fakes.rule_followers import Request
from tests.fakes.script import Turn as Says
from tests.ingest.hashing import HashingEmbedder

ROUNDS = 30
SEARCHES = 3


class TimedIndex(Index):
    """Knows how long its searches took."""

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
    with closing(TimedIndex(settings, embedder)) as index:
        _measure_loop(sheet, index)
        _measure_grounding(sheet, index)


def _measure_loop(sheet: Sheet, index: TimedIndex) -> None:
    index.warm()

    def model(request: Request) -> Says:
        number = sum(message["role"] == "assistant" for message in request.body["messages"])
        if number < SEARCHES:
            return Says(tools=[("search_docs", {"query": f"payout runbook step {number}"})])
        return Says(text="The docs do not say.")

    taken = []
    with MessagesServer(model) as server:
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
    sheet.line(
        "a step, without its searches",
        f"p50 {p50:.1f} ms, p95 {p95:.1f} ms (the loopback model's share included)",
        aim="< 15 ms",
        reached=p50 < 15,
    )


def _measure_grounding(sheet: Sheet, index: Index) -> None:
    passages = [
        p for info in index.documents() if (page := index.page(info.path)) for p in page.passages
    ]
    sources = [Source(passage.id, passage.text) for passage in passages[:12]]
    claims = [
        f"{passage.text.splitlines()[-1]} Run `kubectl get pods -n pay` [{passage.id}]."
        for passage in passages[:12]
    ]
    answer = ("\n\n".join(claims) * 10)[:4_000]
    taken = [
        seconds(lambda: ground(answer, sources, question="How do I restart it?")) * 1000
        for _ in range(ROUNDS)
    ]
    p50, p95 = percentiles(taken)
    sheet.line(
        f"grounding check, {len(answer):,} characters, {len(sources)} chunks",
        f"p50 {p50:.1f} ms, p95 {p95:.1f} ms",
        aim="< 10 ms",
        reached=p50 < 10,
    )

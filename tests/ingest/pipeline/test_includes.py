from tests.ingest.pipeline.docs import Docs

def test_x(docs: Docs) -> None:
    docs.write("quotas.rst", "Quotas\n======\n\nEach tenant has limits.\n\n.. include:: numbers.rst.inc\n\nAsk more.\n")
    docs.write("numbers.rst.inc", "The gateway accepts 730 requests.\n")
    report = docs.ingest()
    print(report)
    for p in docs.search("730 requests gateway").passages:
        print(p.to_json())
    print(docs.ingest())
    assert 0

"""Texts of editions -> groups of nearly the same text."""

from ingest.editions.near_copies import EditionChunk, grouped

LIMIT = "The gateway closes a socket that stays silent for {} seconds, and logs the code 4408."
FLAG = "`--{}` sets the number of {} that a tenant may have at once."


def groups(*editions: list[tuple[str, str]]) -> list[list[int]]:
    """The heads of the chunks of each edition, whose chunks have a heading and a text."""
    chunks = [
        EditionChunk(100 * edition + row, edition, (heading,), text, hash(text))
        for edition, texts in enumerate(editions, 1)
        for row, (heading, text) in enumerate(texts)
    ]
    heads = grouped(chunks)
    return [[heads[c.row] for c in chunks if c.edition == e] for e in range(1, len(editions) + 1)]


def test_a_text_with_another_number_joins_that_of_the_current_edition() -> None:
    newest, older, oldest = ([("Limits", LIMIT.format(seconds))] for seconds in (90, 55, 55))
    assert groups(newest, older, oldest) == [[100], [100], [100]]


def test_a_text_that_was_rewritten_stays_by_itself() -> None:
    rewritten = "Sockets stay open until the client says goodbye; nobody closes them."
    assert groups([("Limits", LIMIT.format(90))], [("Limits", rewritten)]) == [[100], [200]]


def test_similar_sections_of_one_edition_stay_apart() -> None:
    flags = [("Flags", FLAG.format(name, name)) for name in ("sockets", "queues", "topics")]
    assert groups(flags, flags) == [[100, 101, 102], [100, 101, 102]]


def test_a_section_does_not_join_a_similar_one_under_another_heading() -> None:
    current = [("Sockets", FLAG.format("sockets", "sockets"))]
    older = [("Queues", FLAG.format("queues", "queues"))]
    assert groups(current, older) == [[100], [200]]


def test_small_differences_do_not_add_up() -> None:
    words = [f"word{n}" for n in range(40)]
    editions = [
        [("A", " ".join(["new"] * changed + words[changed:]))] for changed in range(0, 40, 4)
    ]
    heads = {head for [head] in groups(*editions)}
    assert len(heads) > 1


def test_texts_without_blanks_between_words_are_compared_too() -> None:
    text = "网关会关闭静默超过{}秒的套接字，并记录代码。之后客户端必须重新连接。"
    assert groups([("限制", text.format(90))], [("限制", text.format(55))]) == [[100], [100]]

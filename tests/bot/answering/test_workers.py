"""The bounded pool for answers, which serves the places in turn."""

import functools
import threading

from hypothesis import given
from hypothesis import strategies as st

from bot.answering.workers import RESERVE, Workers
from tests.waiting import PATIENCE, wait_for


def test_a_drained_pool_runs_its_waiting_jobs_and_leaves_no_thread() -> None:
    others = threading.enumerate()
    pool = Workers(workers=2, waiting=2)
    gate, done = threading.Event(), list[int]()

    def job(number: int) -> None:
        gate.wait(PATIENCE)
        done.append(number)

    assert [pool.submit(functools.partial(job, n)) for n in range(5)] == [True] * 4 + [False]
    began = [thread for thread in threading.enumerate() if thread not in others]
    own = [thread for thread in began if thread.name.startswith("answer-")]
    assert 2 <= len(own) <= 2 + RESERVE
    assert not pool.drain(0)
    assert not pool.submit(functools.partial(job, 5))
    gate.set()
    assert pool.drain(PATIENCE)
    assert sorted(done) == [0, 1, 2, 3]
    wait_for(lambda: not any(thread.is_alive() for thread in own))


class Rush:
    """A pool whose first job holds all threads until ``end``, and the order of the others."""

    def __init__(self, workers: int = 1, waiting: int = 100, reserve: int = 0) -> None:
        self.pool = Workers(workers, waiting, reserve)
        self.gate = threading.Event()
        self.order: list[tuple[str, int]] = []
        self.told: dict[tuple[str, int], list[int]] = {}
        held = threading.Semaphore(0)

        def hold() -> None:
            held.release()
            self.gate.wait(PATIENCE)

        for _ in range(workers):
            self.pool.submit(hold, "flood")
            held.acquire(timeout=PATIENCE)

    def ask(self, place: str, number: int) -> bool:
        told = self.told.setdefault((place, number), [self.pool.ahead(place)])
        job = functools.partial(self.order.append, (place, number))
        return self.pool.submit(job, place, told.append)

    def end(self) -> None:
        self.gate.set()
        assert self.pool.drain(PATIENCE)


@given(st.lists(st.sampled_from("abcd"), max_size=40))
def test_each_place_is_served_in_its_turn_and_each_job_once_and_in_order(asked: list[str]) -> None:
    rush = Rush()
    for number, place in enumerate(asked):
        assert rush.ask(place, number)
    rush.end()
    assert sorted(rush.order) == sorted((place, number) for number, place in enumerate(asked))
    for place in set(asked):
        own = [number for each, number in rush.order if each == place]
        assert own == sorted(own)
        for turn, number in enumerate(own, 1):
            before = rush.order.index((place, number))
            assert before < turn * len(set(asked))
            told = rush.told[place, number]
            assert told == sorted(told, reverse=True)
            assert told[-1] <= before + 1


def test_a_place_that_holds_all_threads_and_the_whole_queue_delays_and_refuses_no_other() -> None:
    rush = Rush(workers=3, waiting=5, reserve=2)
    assert [rush.ask("flood", number) for number in range(6)] == [True] * 5 + [False]
    assert rush.ask("elsewhere", 0)
    wait_for(lambda: rush.order == [("elsewhere", 0)])
    assert rush.told["elsewhere", 0] == [0]
    rush.end()


def test_short_jobs_do_not_wait_for_long_ones_of_their_place() -> None:
    rush = Rush(workers=2, reserve=1)
    rush.ask("flood", 0)
    for number in range(3):
        job = functools.partial(rush.order.append, ("short", number))
        assert rush.pool.submit(job, "flood", is_short=True)
    wait_for(lambda: len(rush.order) == 3)
    rush.end()
    assert rush.order == [("short", 0), ("short", 1), ("short", 2), ("flood", 0)]


def test_whoever_waits_is_told_each_time_that_half_of_the_others_are_done() -> None:
    rush = Rush()
    for number in range(9):
        rush.ask("flood", number)
    rush.end()
    assert rush.told["flood", 8] == [9, 4, 2, 1]

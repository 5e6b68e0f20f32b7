"""The bounded pool for answers."""

import functools
import threading

from bot.answering.workers import Workers
from tests.waiting import PATIENCE, wait_for


def test_a_drained_pool_runs_its_waiting_jobs_and_leaves_no_thread() -> None:
    others = threading.enumerate()
    pool = Workers(workers=2, waiting=2)
    began = [thread for thread in threading.enumerate() if thread not in others]
    own = [thread for thread in began if thread.name.startswith("answer-")]
    assert len(own) == 2
    gate, done = threading.Event(), list[int]()

    def job(number: int) -> None:
        gate.wait(PATIENCE)
        done.append(number)

    assert [pool.submit(functools.partial(job, n)) for n in range(5)] == [True] * 4 + [False]
    assert not pool.drain(0)
    assert not pool.submit(functools.partial(job, 5))
    gate.set()
    assert pool.drain(PATIENCE)
    assert sorted(done) == [0, 1, 2, 3]
    wait_for(lambda: not any(thread.is_alive() for thread in own))

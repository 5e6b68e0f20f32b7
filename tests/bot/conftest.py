"""A sandbox for a test file, reset for each test, the bot connected to it, and its database.

``FOOTNOTE_TEST_DATABASE_URL`` names a PostgreSQL server whose databases may be written into: tests
of the journal then also run there, each in its own schema.
"""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.stage import Running, Script, Slack, patient_rules
from tests.waiting import wait_for

Start = Callable[..., Running]

SERVER = os.environ.get("FOOTNOTE_TEST_DATABASE_URL")


@pytest.fixture(scope="module")
def workspace() -> Iterator[Sandbox]:
    """Everything granted and subscribed; short pages, so that paging is part of every test."""
    running = Sandbox(
        manifest=Manifest(), rules=patient_rules(page_size=100, retry_delays=[0.0, 0.1, 0.1])
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture
def slack(workspace: Sandbox) -> Slack:
    slack = Slack(workspace.url)
    wait_for(lambda: slack.state()["connections"] == 0)
    slack.post("reset")
    return slack


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def start(
    slack: Slack, workspace: Sandbox, script: Script, tmp_path: Path
) -> Iterator[Callable[..., Running]]:
    """Starts complete bots, as a process does, and stops them at the end."""
    started: list[Running] = []

    def start(**settings: Any) -> Running:
        started.append(Running(workspace, tmp_path, script, **settings))
        return started[-1]

    yield start
    script.gate.set()
    for running in started:
        running.stop()


@pytest.fixture
def postgres() -> Iterator[str]:
    """Address of an empty schema on the PostgreSQL server; its connections bear its name."""
    if not SERVER:
        pytest.skip("FOOTNOTE_TEST_DATABASE_URL names no PostgreSQL server")
    address = sa.make_url(SERVER).set(drivername="postgresql+psycopg")
    schema = f"test_{uuid.uuid4().hex}"
    engine = sa.create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.schema.CreateSchema(schema))
        parameters = {"options": f"-csearch_path={schema}", "application_name": schema}
        own = address.update_query_dict(parameters)
        yield own.render_as_string(hide_password=False)
        connection.execute(sa.schema.DropSchema(schema, cascade=True))
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Place of the journal: None for the file in the data folder, or a server's address."""
    if request.param == "sqlite":
        return None
    address: str = request.getfixturevalue("postgres")
    return address

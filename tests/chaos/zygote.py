"""A JSON line with a command of Footnote -> a process that runs it, forked from this interpreter.

Everything is imported once, so that a bot starts in two seconds and hundreds of restarts are
affordable. A forked process has opened nothing yet, and runs the same ``main`` as the command. When
stdin closes, the processes still running are killed.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
from typing import Any, NoReturn

MODULES = (
    "bot.app",
    "bot.cli_commands",
    "bot.doctor",
    "bot.sandbox.server",
    "ingest.cli",
    "ingest.runs.terminal_run",
    "ingest.embedding.sentence_model",
    "agent.cli",
    "onnxruntime",
    "tokenizers",
)


def run(request: dict[str, Any]) -> NoReturn:
    """Become the command, as if the system had started it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    places = (
        os.open(os.devnull, os.O_RDONLY),
        os.open(request["out"], appending, 0o644),
        os.open(request["log"], appending, 0o644),
    )
    for number, place in enumerate(places):
        os.dup2(place, number)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = ["footnote", *request["arguments"]]
    code = 1
    try:
        importlib.import_module("bot.cli").main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  # as the interpreter does: report it, end with 1
        sys.excepthook(*sys.exc_info())
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


def code_of(pid: int) -> int | None:
    """Exit code of a process; negative for a signal, None while it runs."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def main() -> None:
    for name in MODULES:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    running: set[int] = set()
    print("ready", flush=True)  # noqa: T201  # the protocol
    for line in sys.stdin:
        request = json.loads(line)
        if pid := request.get("wait"):
            code = code_of(pid)
            if code is not None:
                running.discard(pid)
            print(json.dumps({"code": code}), flush=True)  # noqa: T201  # the protocol
            continue
        pid = os.fork()
        if not pid:
            run(request)
        running.add(pid)
        print(json.dumps({"pid": pid}), flush=True)  # noqa: T201  # the protocol
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever reads our stdout ends us
    main()

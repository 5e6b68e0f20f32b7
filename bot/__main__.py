"""``python -m bot`` is the ``footnote`` command."""

from bot.cli import main

main()

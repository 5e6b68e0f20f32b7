"""The effect of one write on the chunks of a document."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ChunkChanges:
    """Numbers of chunks that a write of one document added, changed, deleted or left alone."""

    added: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    gone: tuple[str, ...] = field(default=(), compare=False)
    """Ids of the rows that were deleted or replaced."""

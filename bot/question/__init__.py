"""A Slack event -> a Question, the thread it stands in, and whether Footnote answers it."""

"""A Slack event -> a Question, its thread, and the decision whether Footnote answers it."""

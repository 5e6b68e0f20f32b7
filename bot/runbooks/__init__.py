"""The text of an alert -> its runbook, a part of the docs."""

"""Labelled cases -> scores, costs and times of the agent's answers."""

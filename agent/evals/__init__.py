"""Evals: labelled cases go to the agent, scores and what the answers took come out."""

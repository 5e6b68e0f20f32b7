"""A request -> Claude's response: client, profiles of models, cost, deadline, failures."""

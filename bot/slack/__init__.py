"""The workspace at the other end: clients, events transport, people, links to messages."""

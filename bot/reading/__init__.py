"""Any Slack message -> plain text, with the people it addresses and the links in it. Pure."""

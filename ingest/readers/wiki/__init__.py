"""Lines of Org and of the formats of wikis in, their blocks out; their words by themselves."""

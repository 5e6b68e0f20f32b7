"""The items, each a function from a trial to rows of figures."""

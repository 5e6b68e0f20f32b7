"""The people, places and messages of the local workspace, and how strict it is."""

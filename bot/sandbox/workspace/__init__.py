"""The people, channels and messages of the local workspace, and its rules."""

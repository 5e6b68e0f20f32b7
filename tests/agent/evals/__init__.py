"""Own labelled cases on the sample docs, and tests of what measures them."""

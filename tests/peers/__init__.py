"""Our loop and our fakes against imitations and recordings by others."""

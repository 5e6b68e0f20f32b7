"""Our loop and our stand-ins against imitations and recordings that others made."""

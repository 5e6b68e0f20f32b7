"""YAML or JSON that describes an interface in, a section for each operation out."""

"""Lines of AsciiDoc in, the lines that people see and their blocks out; its words by themselves."""

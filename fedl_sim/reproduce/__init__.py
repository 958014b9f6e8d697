"""The paper's evaluation (Sec. V) and what goes beyond it, each by one command: `fedsift experiment NAME`."""

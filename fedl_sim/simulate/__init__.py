"""`fedsift simulate`: schemes compared over seeds and draws."""

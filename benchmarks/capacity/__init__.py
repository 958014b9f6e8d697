"""How much a server can do, and what it answers beyond each of its limits."""

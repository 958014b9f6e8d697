"""The server processes of `fedsift serve`: how they are forked, share connections, and limit them."""

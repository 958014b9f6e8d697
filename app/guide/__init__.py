"""The guide at `/guide`: the documentation as a site, packed into one file by `make docs`."""

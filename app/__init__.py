"""The REST service: parses requests, calls the sampler and the solver, returns typed answers."""

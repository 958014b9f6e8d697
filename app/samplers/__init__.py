"""/v1/samplers: the samplers that callers may choose from."""

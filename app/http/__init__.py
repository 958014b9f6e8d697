"""What slices share of HTTP: admission, bodies, answers, problems, headers. It imports no slice."""

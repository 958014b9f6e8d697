"""What every request passes: admission, body, errors, headers."""

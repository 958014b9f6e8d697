"""The worker's child process, which trains parts of validations."""

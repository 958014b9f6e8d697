# The Kubernetes manifests, built by kubectl. Where it is missing the tests are skipped, and `make test` says so.
.PHONY: test-kubernetes

test-kubernetes: $(VENV)/.dev ## Build every overlay with kubectl, and check it against the schemas and the settings
	@command -v kubectl > /dev/null || echo 'kubectl is missing: what needs it is skipped'
	$(BIN)/python -m pytest -n 0 tests/deploy

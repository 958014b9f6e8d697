# The container images. deploy/image/engine.py finds an engine and documents the variables that it reads.
.PHONY: image image-test

image: ## Build the images serve and worker with docker, podman or buildah
	$(PYTHON) deploy/image/engine.py build

image-test: $(VENV)/.dev image ## Build the images, run them read-only as a random user, and stop them
	FEDSIFT_TEST_IMAGE=yes $(BIN)/python -m pytest $(PYTEST_ARGS) -rP tests/image

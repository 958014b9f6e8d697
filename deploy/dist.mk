# The distribution: sdist and wheel, and a check of both in fresh environments.
.PHONY: dist dist-check

dist: $(VENV)/.dev ## Build the sdist and the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation

dist-check: dist ## Check the metadata, install the wheel in fresh environments, and ask it for a plan
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python deploy/dist/contents.py dist
	$(PYTHON) deploy/dist/installed.py dist

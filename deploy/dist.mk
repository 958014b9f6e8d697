# The distribution: sdist and wheel, and a check of both. The wheel is built from the sdist.
.PHONY: dist dist-check

dist: $(VENV)/.dev ## Build the sdist and the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation

dist-check: dist ## Check the distribution, install the wheel in a fresh environment, and ask it for a plan
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python deploy/dist/contents.py dist
	$(BIN)/python deploy/dist/installed.py dist

# The distributions, of the service and of its Python client: sdist and wheel, and a check of both. The wheel is built from
# the sdist.
CLIENT_DIST := build/client-dist
CLIENT_ENV := build/client-env
.PHONY: dist dist-check

dist: $(VENV)/.dev $(GUIDE) ## Build the sdist and the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	rm -rf $(CLIENT_DIST)
	$(BIN)/python -m build --no-isolation --outdir $(CLIENT_DIST) clients/python

dist-check: dist ## Check the distribution, install the wheel in a fresh environment, and ask it for a plan
	$(BIN)/twine check --strict dist/* $(CLIENT_DIST)/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/check-wheel-contents --no-config $(CLIENT_DIST)/*.whl
	$(BIN)/python deploy/dist/contents.py dist
	$(BIN)/python deploy/dist/installed.py dist
	rm -rf $(CLIENT_ENV) && $(PYTHON) -m venv $(CLIENT_ENV)
	$(CLIENT_ENV)/bin/python -m pip install -q -c constraints.txt $(CLIENT_DIST)/*.whl
	cd $(CLIENT_ENV) && bin/python -c 'import fedsift_client as f; f.Client().close(); print("installed", f.__name__)'

# A release is built from the last commit. `make release IMAGES=--images` adds archives of the images of `make image`.
.PHONY: release release-check
release: $(VENV)/.dev build/supply/.ready build/docs/.ready ## Build everything that a release consists of into build/release, with checksums
	$(BIN)/python deploy/dist/release.py build/release $(IMAGES)

release-check: $(VENV)/.dev build/supply/.ready build/docs/.ready ## Build the release twice and compare byte for byte
	$(BIN)/python deploy/dist/release.py --check

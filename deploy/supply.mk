# What the project is made of, and whether any of it is known to be vulnerable; the tools have an environment of their own.
.PHONY: sbom audit

build/supply/.ready:
	$(PYTHON) -m venv build/supply
	build/supply/bin/python -m pip install -q cyclonedx-bom==7.5.0 pip-audit==2.10.1
	@touch $@

sbom: build/supply/.ready ## Write a CycloneDX bill of materials of all pins to build/sbom.cdx.json
	build/supply/bin/cyclonedx-py requirements constraints.txt --pyproject pyproject.toml --output-reproducible \
	  --output-file build/sbom.cdx.json
	@echo build/sbom.cdx.json

# Without --strict it would say that all is well where it could ask nobody.
audit: build/supply/.ready ## Ask for known vulnerabilities of all pins; fails where it cannot ask
	build/supply/bin/pip-audit --strict --disable-pip --no-deps -r constraints.txt

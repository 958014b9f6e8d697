# The bill of materials, and known vulnerabilities. The tools have an environment of their own.
.PHONY: sbom audit

build/supply/.ready:
	$(PYTHON) -m venv build/supply
	build/supply/bin/python -m pip install -q cyclonedx-bom==7.5.0 pip-audit==2.10.1
	@touch $@

sbom: build/supply/.ready ## Write a CycloneDX bill of materials of all pins to build/sbom.cdx.json
	build/supply/bin/cyclonedx-py requirements constraints.txt --pyproject pyproject.toml --output-reproducible \
	  --output-file build/sbom.cdx.json
	@echo build/sbom.cdx.json

# Without --strict pip-audit reports success when it reaches no advisory source.
audit: build/supply/.ready ## Look up known vulnerabilities of all pins; fails where no source is reached
	build/supply/bin/pip-audit --strict --disable-pip --no-deps -r constraints.txt

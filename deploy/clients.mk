# Clients generated from docs/openapi.json into build/clients, and their tests. Nothing generated is committed.
DOCUMENT := docs/openapi.json
DOCUMENT_3_0 := docs/openapi-3.0.json
GENERATORS := build/generators
CLIENTS := build/clients
JAVA_CLASSES := build/clients-java-classes

.PHONY: clients client-python client-typescript client-java client-go test-clients test-flare test-flower

$(GENERATORS)/.ready: deploy/clients/requirements.txt
	$(PYTHON) -m venv $(GENERATORS)
	$(GENERATORS)/bin/python -m pip install -q -r $<
	@touch $@

clients: client-python client-typescript client-java client-go ## Generate all clients into build/clients

client-python: $(GENERATORS)/.ready ## Generate the Python client
	rm -rf $(CLIENTS)/python && mkdir -p $(CLIENTS)
	PATH="$(CURDIR)/$(GENERATORS)/bin:$$PATH" openapi-python-client generate --fail-on-warning --meta uv \
	  --path $(DOCUMENT) --config deploy/clients/python.yaml --output-path $(CLIENTS)/python

client-typescript: ## Generate the TypeScript client
	mkdir -p $(CLIENTS)/typescript
	cp deploy/clients/typescript/package.json deploy/clients/typescript/package-lock.json deploy/clients/typescript/tsconfig.json $(CLIENTS)/typescript/
	cd $(CLIENTS)/typescript && npm ci --silent --no-audit --no-fund
	cd $(CLIENTS)/typescript && npx openapi-typescript $(CURDIR)/$(DOCUMENT) --default-non-nullable=false -o schema.d.ts

client-java client-go: client-%: $(GENERATORS)/.ready ## Generate the Java or the Go client
	rm -rf $(CLIENTS)/$* && mkdir -p $(CLIENTS)
	$(GENERATORS)/bin/openapi-generator-cli generate -i $(DOCUMENT_3_0) -g $* -o $(CLIENTS)/$* -c deploy/clients/$*.yaml \
	  $(if $(wildcard deploy/clients/$*),-t deploy/clients/$*) > build/client-$*.log

test-clients: $(VENV)/.dev clients ## Generate the clients, check their types, and run them against the live service
	FEDSIFT_TEST_CLIENTS=$(CURDIR)/build $(BIN)/python -m pytest $(PYTEST_ARGS) tests/clients

test-flower: $(VENV)/.dev build/flower/.ready ## Train with Flower on the nodes that fedsift samples
	FEDSIFT_TEST_FLOWER=$(CURDIR)/build/flower/bin/python $(BIN)/python -m pytest $(PYTEST_ARGS) -m flower tests/examples

# FLARE pins its own web framework too.
build/flare/.ready:
	$(PYTHON) -m venv build/flare
	build/flare/bin/python -m pip install -q nvflare==2.9.0 scikit-learn==1.9.1 -e clients/python
	@touch $@

test-flare: $(VENV)/.dev build/flare/.ready ## Train with NVIDIA FLARE on the sites that fedsift samples
	FEDSIFT_TEST_FLARE=$(CURDIR)/build/flare/bin/python $(BIN)/python -m pytest $(PYTEST_ARGS) -m flare tests/examples

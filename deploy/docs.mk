# The documentation as a site, in build/site/ and, packed, in the file that the service serves at /guide. The tools have an
# environment of their own, so that serving and testing need none of them.
PAGES := $(wildcard docs/*.md docs/guide/*.md docs/images/*.* docs/images/guide/* docs/results/*/*.svg)
.PHONY: docs figures

build/docs/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv build/docs
	build/docs/bin/python -m pip install -q $(NEW_PIP)
	build/docs/bin/python -m pip install -q -c constraints.txt --group docs
	@touch $@

# MkDocs checks all links and anchors; docs/site.py adds what it does not. Not --quiet: with it warnings would not count.
# Bytecode of docs/site.py would be taken for a page.
$(GUIDE): mkdocs.yml docs/site.py docs/site.css $(PAGES) | build/docs/.ready
	NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 build/docs/bin/mkdocs build --strict

docs: ## Build the documentation, strictly: the site in build/site/, and what the service serves at /guide
	@rm -f $(GUIDE)
	@$(MAKE) --no-print-directory $(GUIDE)

# Folders without a figure have no table that one is drawn from.
DRAWN = $(addprefix $(INTO),$(patsubst %/,%,$(sort $(dir $(wildcard docs/results/*/*.svg)))))
figures: $(VENV)/.dev ## Draw the figures of docs/results/ again from the tables there
	$(BIN)/python -m fedl_sim.reproduce.figures $(DRAWN)

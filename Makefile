# Everything a new machine needs is Python 3.11 or newer. The first run of any target makes .venv from
# requirements.lock; later runs find it there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# One more than there are cores: tests wait for editors, for programs and for Spark.
JOBS ?= 3
SPREAD := -n $(JOBS) --dist loadgroup --no-loadscope-reorder
# pypaimon pins an old pyarrow, so the tests ask it in an environment of its own.
PAIMON := .venv-pypaimon
PAIMON_READY := $(PAIMON)/.ready
PAIMON_LOCK := tests/conformance/pypaimon/requirements.lock
# Object stores and Spark Connect: moto's server, and Hadoop's file system for S3, in an environment that sees the project's own.
WHERE := .venv-where
WHERE_READY := $(WHERE)/.ready
WHERE_LOCK := tests/where/requirements.lock
WHERE_TESTS := tests/pipeline/test_object_stores.py tests/pipeline/test_object_stores_in_spark.py \
	tests/pipeline/test_where_it_runs.py tests/pipeline/test_connect.py
# The official connectors, which are made for another Spark than the project's.
CONNECTORS := .venv-connectors
CONNECTORS_READY := $(CONNECTORS)/.ready
CONNECTORS_LOCK := tests/conformance/connector/requirements.lock
# What `make quick` runs: the corpus, the pages and the units; no laws, no engines' libraries, no Spark.
QUICK := tests/test_corpus.py tests/test_pages.py tests/guide/test_reference.py tests/architecture tests/cli tests/evolution tests/judging \
	tests/importers tests/losses tests/project tests/unit

# The lowest versions that pyproject.toml declares, on every Python that is here; the compiler's tests, without Spark.
LOWEST := .venv-lowest
LOWEST_LOCK := tests/lowest/requirements.lock
LOWEST_PYTHONS ?= 3.11 3.12 3.13
LOWEST_TESTS := tests/test_corpus.py tests/unit tests/project tests/importers tests/laws tests/losses

# The site generator has an environment of its own, with the compiler's dependencies, whose docstrings it reads.
DOCS := .venv-docs
DOCS_READY := $(DOCS)/.ready
DOCS_LOCK := docs/requirements.lock

# With an archive of Spark's classes, which lies in the user's cache, a first run takes two thirds of the time (`class_archive`).
CLASSES := $(VENV)/.classes
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/schemac

# Tests start hundreds of programs, each of which would compile the whole compiler anew where the environment says so.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test pytest quick test-long test-where test-connectors test-lowest mutants coverage docs bench bench-pipeline lint format lock protos schemas clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 18

demo: $(READY) $(CLASSES)  ## compile a schema, and load records through Spark into a Lance table
	@$(BIN)/python examples/demo/demo.py

test:  ## lint, types, layers and the tests, beside each other, as are the environments that they need
	@$(MAKE) --no-print-directory -j2 lint pytest

pytest: $(READY) $(PAIMON_READY)
	$(BIN)/python -m pytest $(SPREAD)

quick: $(READY) lint  ## the tests that need neither Spark nor a second environment: under a minute
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not long and not spark and not slow" $(QUICK)

test-long: $(READY)  ## the same laws with many more examples, and Spark with generated code
	$(BIN)/python -m pytest $(SPREAD) -m long -o faulthandler_timeout=7200
	$(BIN)/python -m pytest $(SPREAD) -m "hypothesis and not long" --hypothesis-profile=full
	SPARK_CODE=generated $(BIN)/python -m pytest $(SPREAD) -m "spark and not long"

test-lowest: $(READY)  ## the compiler's tests with the lowest declared versions, on 3.11, 3.12 and 3.13
	@mkdir -p $(LOWEST)
	@$(BIN)/python -m tests.lowest.digests > $(LOWEST)/digests.txt
	@rm -rf $(LOWEST)/wheel
	@$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w $(LOWEST)/wheel .
	@for version in $(LOWEST_PYTHONS); do \
		python=$$(for one in python$$version $$HOME/.pyenv/versions/$$version.*/bin/python; do \
			$$one -c "" 2>/dev/null && echo $$one && break; done); \
		if [ -z "$$python" ]; then echo "skipped Python $$version: it is not installed here"; continue; fi; \
		echo "Python $$version with the lowest versions"; \
		$$python -m venv --clear $(LOWEST)/$$version && \
		$(LOWEST)/$$version/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $(LOWEST_LOCK) && \
		$(LOWEST)/$$version/bin/python -m pip install -q --disable-pip-version-check --no-deps $(LOWEST)/wheel/*.whl && \
		$(LOWEST)/$$version/bin/python -m tests.lowest.digests | cmp - $(LOWEST)/digests.txt && \
		$(LOWEST)/$$version/bin/python -m pytest -q -n $(JOBS) -m 'not long and not spark' $(LOWEST_TESTS) || exit 1; \
	done

test-where: $(READY) $(WHERE_READY)  ## clusters, object stores and Spark Connect on loopback (needs mvn for sources on S3)
	$(BIN)/python -m pytest -m "long or not long" -o faulthandler_timeout=7200 $(WHERE_TESTS)

test-connectors: $(READY) $(CONNECTORS_READY)  ## the official connectors of Lance and Iceberg, and Paimon's library (needs mvn)
	LANCE_SPARK_PYTHON=$${LANCE_SPARK_PYTHON:-$(CURDIR)/$(CONNECTORS)/bin/python} \
	ICEBERG_SPARK_PYTHON=$${ICEBERG_SPARK_PYTHON:-$(CURDIR)/$(CONNECTORS)/bin/python} \
	$(BIN)/python -m pytest -m "long or not long" -o faulthandler_timeout=7200 tests/conformance/connector tests/conformance/paimon_java tests/engines/iceberg/test_create_table.py

mutants: $(READY)  ## small mistakes, drawn by lot, that no test of their room notices: make mutants NUMBER=20 SEED=1
	$(BIN)/python -m tests.mutation.lot $(or $(NUMBER),20) $(or $(SEED),1)

coverage: $(READY) $(PAIMON_READY)  ## how much of the code the tests without Spark run; the floor is in pyproject.toml
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not long and not spark" --cov --cov-report=term

docs: $(DOCS_READY)  ## the guide and the reference as a site: site/html/index.html
	@$(DOCS)/bin/python -m docs.site site/source
	@$(DOCS)/bin/sphinx-build -q -W --keep-going -b html -c docs -d site/doctrees site/source site/html
	@$(DOCS)/bin/python -m docs.external site/html
	@echo "site/html/index.html"

bench: $(READY)  ## compare the compiler with buf (needs npm), and the pipeline with df.write.parquet
	$(BIN)/python -m tests.bench.compiler
	$(BIN)/python -m tests.bench.pipeline

bench-pipeline: $(READY)  ## compare whole runs with Spark's own readers and df.write.parquet, and validating with Arrow and pydantic
	$(BIN)/python -m tests.bench.validation
	$(BIN)/python -m tests.bench.enforcement
	$(BIN)/python -m tests.bench.pipeline

lint: $(READY)
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo > $(VENV)/floors.txt || (cat $(VENV)/floors.txt; exit 1)

format: $(READY)  ## format the code with ruff
	$(BIN)/ruff check -q --fix . || true
	$(BIN)/ruff format -q .

lock: $(READY)  ## update the lock files of the dependencies
	$(BIN)/python -m pip install -q uv
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --upgrade --extra dev --generate-hashes \
		--no-emit-index-url --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-emit-index-url --no-header $(PAIMON_LOCK:.lock=.in) -o $(PAIMON_LOCK)
	for lock in $(WHERE_LOCK) $(CONNECTORS_LOCK); do \
		$(BIN)/uv pip compile -q --universal --python-version 3.11 --upgrade --generate-hashes \
			--no-emit-index-url --no-header $${lock%.lock}.in -o $$lock || exit 1; \
	done
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --upgrade --resolution lowest-direct --generate-hashes \
		--extra all --no-emit-index-url --no-header pyproject.toml \
		$(LOWEST_LOCK:.lock=.in) -o $(LOWEST_LOCK)
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-emit-index-url --no-header pyproject.toml $(DOCS_LOCK:.lock=.in) -o $(DOCS_LOCK)

protos: $(READY)  ## generate the message classes from protos/
	$(BIN)/python -m grpc_tools.protoc -Iprotos --python_out=schemac/engines/lance/_generated \
		--pyi_out=schemac/engines/lance/_generated protos/lance/file.proto
	$(BIN)/python protos/own_pool.py schemac/engines/lance/_generated/lance/file_pb2.py

schemas: $(READY)  ## generate schemas/, and the tables of keys in the guide, from the models
	$(BIN)/python -c 'from pathlib import Path; from schemac.cli.project_commands import write_schemas; write_schemas(Path("schemas"))'
	$(BIN)/python -m docs.keys

clean:  ## remove everything that the targets created
	rm -rf $(CACHE)/spark-classes-* $(VENV) $(PAIMON) $(LOWEST) $(DOCS) $(WHERE) $(CONNECTORS) site build demo dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The virtual environment is made anew when the lock or the project's metadata changes. A lock names every package, so
# pip resolves nothing (`--no-deps`): it would look for a newer `coverage[toml]` beside the locked `coverage`, and refuse it.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		(echo "schemac needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3 ..."; exit 1)
	@echo "setting up $(VENV) (some minutes the first time)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

$(CLASSES): $(READY)
	@echo "preparing Spark's classes (a minute the first time)"
	@$(BIN)/python -c 'from schemac.pipeline.class_archive import make_class_archive as make; make()' || true
	@touch $@

$(PAIMON_READY): $(PAIMON_LOCK)
	@echo "setting up $(PAIMON) (a minute the first time)"
	@$(PYTHON) -m venv --clear $(PAIMON)
	@$(PAIMON)/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $(PAIMON_LOCK)
	@touch $@

$(WHERE_READY): $(WHERE_LOCK) tests/where/pom.xml | $(READY)
	@echo "setting up $(WHERE) (some minutes the first time)"
	@$(PYTHON) -m venv --clear $(WHERE)
	@$(WHERE)/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $(WHERE_LOCK)
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' > \
		$$($(WHERE)/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/project.pth
	@if command -v mvn > /dev/null; then \
		mvn -q -B -f tests/where/pom.xml dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(WHERE)/jars; \
	else echo "mvn is not here: sources on S3 are not tested"; fi
	@touch $@

$(CONNECTORS_READY): $(CONNECTORS_LOCK) tests/conformance/connector/pom.xml | $(READY)
	@echo "setting up $(CONNECTORS) (some minutes the first time)"
	@command -v mvn > /dev/null || (echo "the jars of the connectors need mvn"; exit 1)
	@$(PYTHON) -m venv --clear $(CONNECTORS)
	@$(CONNECTORS)/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $(CONNECTORS_LOCK)
	@mvn -q -B -f tests/conformance/connector/pom.xml dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory=$(CURDIR)/$(CONNECTORS)/downloaded
	@$(CONNECTORS)/bin/python tests/conformance/connector/put_jars.py $(CONNECTORS)/downloaded
	@touch $@

$(DOCS_READY): $(DOCS_LOCK)
	@echo "setting up $(DOCS) (a minute the first time)"
	@$(PYTHON) -m venv --clear $(DOCS)
	@$(DOCS)/bin/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $(DOCS_LOCK)
	@touch $@

# Two commands: `make up` runs everything, `make test` runs the tests. `make help` lists the rest.

PYTHON := .venv/bin/python
PEERS_PYTHON := .venv-peers/bin/python
BENCH_SIZE ?= toy
BENCH_PROCESSES ?= 1
TEST_PROCESSES ?= 2

export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: up test test-external check bench fuzz examples client demo-record screenshots lock evaluate clean help venv dev-venv bench-venv peers peers-venv browser

up: venv ## run database, broker, web, worker, scheduler and demo (ENGRAM_PORT, ENGRAM_DEMO=0)
	@$(PYTHON) manage.py up $(ARGS)

test: dev-venv browser ## run all tests, or some: make test ARGS=tests/memories
	@$(PYTHON) -m pytest -n $(TEST_PROCESSES) --dist worksteal $(ARGS)

test-external: dev-venv ## two web processes, two workers and the tests on servers by URL (ARGS=--rabbitmq)
	@$(PYTHON) -m tests.external $(ARGS)

check: dev-venv ## formatting, lint, types, imports, dependencies, migrations, deployment settings
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy .
	$(PYTHON) .venv/bin/lint-imports
	$(PYTHON) -W ignore -m deptry . --config .deptry.toml
	$(PYTHON) -W ignore -m deptry tests benchmarks --config .deptry.toml --exclude '\.venv' \
	  --ignore DEP002 \
	  --requirements-files requirements.in,requirements-dev.in,requirements-bench.in,requirements-peers.in
	cd clients/python && ../../$(PYTHON) -W ignore -m deptry .
	$(PYTHON) manage.py makemigrations --check --dry-run
	@echo "$(PYTHON) manage.py check --deploy --fail-level WARNING (as in production)"
	@ENGRAM_ENV=production ENGRAM_ALLOWED_HOSTS=engram.example.com \
	  ENGRAM_SECRET_KEY=$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(64))') \
	  DATABASE_URL=postgres://engram@database/engram BROKER_URL=redis://broker:6379/0 \
	  $(PYTHON) manage.py check --deploy --fail-level WARNING

bench: bench-venv ## run every benchmark (BENCH_SIZE=toy or full)
	@printf '%s\n' benchmarks/*.py | xargs -n 1 -P $(BENCH_PROCESSES) sh -c ' \
	  echo "== $$0 ($(BENCH_SIZE))"; \
	  BENCH_SIZE=$(BENCH_SIZE) PYTHONPATH=. $(PYTHON) "$$0" || { echo "$$0 failed"; exit 255; }'

peers: peers-venv ## compare with other stores of memories (BENCH_SIZE=full DATA=FOLDER)
	@BENCH_SIZE=$(BENCH_SIZE) PYTHONPATH=. $(PEERS_PYTHON) benchmarks/peers.py \
	  $(if $(DATA),--data $(DATA)) $(ARGS)

fuzz: dev-venv ## look for examples that break a property, among many and other ones each time
	@ENGRAM_FUZZ_EXAMPLES=$(or $(ENGRAM_FUZZ_EXAMPLES),1000) $(PYTHON) -m pytest -n $(TEST_PROCESSES) \
	  --dist worksteal -m "hypothesis or searches" $(ARGS)

examples: dev-venv ## record the examples of the API's description anew
	@ENGRAM_RECORD_EXAMPLES=1 $(PYTHON) -m pytest tests/console/test_api_examples.py -q $(ARGS)

client: dev-venv ## write the Python client's types and methods from the API's description
	@$(PYTHON) manage.py spectacular --format openapi-json | $(PYTHON) clients/python/generate.py

demo-record: dev-venv ## record the demo's story anew, after a change of the story, tables or rules
	@$(PYTHON) manage.py migrate --verbosity 0
	@$(PYTHON) manage.py record_demo $(ARGS)

screenshots: dev-venv browser ## take the README's screenshots from the demo
	@$(PYTHON) -m tests.screenshots

evaluate: venv ## measure quality on files: make evaluate ARGS="--histories FILE"
	@$(PYTHON) manage.py evaluate $(ARGS)

lock: dev-venv ## compile requirements*.in to hash-locked requirements*.txt
	@for name in requirements requirements-dev requirements-bench requirements-peers; do \
	  .venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	    --override requirements-overrides.txt -q --custom-compile-command "make lock" \
	    $$name.in -o $$name.txt || exit 1; \
	done

clean: ## remove caches and build results (never .engram, which holds your data)
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache staticfiles
	@find . -name __pycache__ -not -path './.venv*/*' -prune -exec rm -rf {} +

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null \
	  || sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  \2/p' Makefile

# The virtual environment. A stamp holds the checksum of the lock it was filled from, so that
# nothing is installed twice and everything works again without a network.

venv:
	@.ci/venv requirements.txt

dev-venv:
	@.ci/venv requirements.txt requirements-dev.txt

# Benchmarks, as tests, start many processes: each would compile all modules again.
bench: export PYTHONDONTWRITEBYTECODE :=

# Only benchmarks compare with what this project does not use.
bench-venv:
	@.ci/venv requirements.txt requirements-dev.txt requirements-bench.txt

# The peers bring some hundred packages, which the product's own environment stays free of.
peers-venv:
	@ENGRAM_VENV=.venv-peers .ci/venv requirements.txt requirements-peers.txt

browser:
	@.ci/browser

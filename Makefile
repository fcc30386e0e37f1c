# `make` or `make help` lists the targets. Each sets up what it needs in .venv first.

PYTHON ?= python3
SHELL := /bin/sh
.DEFAULT_GOAL := help
BIN := .venv/bin

.PHONY: help gate test test-all quick durations lint types unit bench bench-designs bench-finders bench-peers bench-storm bench-purgatory certificates races fuzz differential verdicts oracles election failover bookie pages needs witnesses breakers explanations repairs mutants sabotage coverage doctor wheel ci clean core dev programs

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10

gate: core ## Check the example designs and test real queues: one verdict.
	@$(BIN)/checkvalve gate examples/

test: lint quick ## Lint, and all tests but those that `make durations` noted as slow.

test-all: lint unit ## Lint, and all tests, as CI runs them.

lint: dev ## Look for mistakes that can be seen without running anything.
	@$(BIN)/ruff check .

types: dev ## Check the types, strictly.
	@$(BIN)/mypy -p checkvalve -p benchmarks

quick: dev programs
	@$(BIN)/python -m pytest -n 2 --dist loadgroup --quick $(ARGS)

durations: dev programs ## Run all tests, and note which are slow (tests/durations.json).
	@$(BIN)/python -m pytest -n 2 --dist loadgroup --note-durations $(ARGS)

unit: dev programs ## Run the tests, on two cores; more arguments: make unit ARGS="-k credit"
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

bench: core ## The explorer, programs a second, and SPIN on a ring if it is here (minutes; not a test).
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.peers --quick

bench-peers: core ## The explorer beside SPIN, a program in C, and minicheck; quick: ARGS=--quick
	@$(BIN)/python -m benchmarks.peers $(ARGS)

bench-designs: core ## Designs of up to 100,000 queues: verdicts, times, certificates (minutes); quick: ARGS=--quick
	@$(BIN)/python -m benchmarks.designs $(ARGS)

bench-finders: core ## The zoo's twins, found by the campaign and by Hypothesis in equal time (minutes).
	@$(BIN)/python -m benchmarks.finders $(ARGS)

bench-storm: core ## Two workers over TCP: tuples a second, and the halt-lag.
	@$(BIN)/python -m benchmarks.storm

bench-purgatory: core ## Kafka's new and old purgatory, and asyncio's timers (7 min); quick: ARGS=--quick
	@mkdir -p build && $(BIN)/python -m benchmarks.purgatory \
	    --json build/purgatory.json --svg build/purgatory.svg $(ARGS)

certificates: dev ## Every verdict on the examples, certified, and forgeries refused (minutes); ARGS="FILE..."
	@$(BIN)/python -m benchmarks.certificates $(ARGS)

fuzz: core ## Mutated designs, configurations, fixtures, chapters and replies; ARGS="--seed 7"
	@$(BIN)/python -m benchmarks.fuzz $(ARGS)

races: core ## Kafka's races under every schedule with two preemptions, in real threads.
	@$(BIN)/python -m benchmarks.races $(ARGS)

election: dev programs ## Elections by real systems, in real time (minutes): docs/election.md; ARGS="--only etcd"
	@$(BIN)/python -m benchmarks.election $(or $(ARGS),--jobs 3 --publish docs)

bookie: core ## A real server with clients that never read and a disk that stalls: what it holds.
	@$(BIN)/python -m benchmarks.bookie $(ARGS)

pages: core ## Write what comes from records: tables of README.md and docs/, the builder's methods.
	@$(BIN)/python -m benchmarks.pages
	@$(BIN)/python -m benchmarks.builder_source

needs: dev ## With which operations each rule can be tested, read off runs of the references.
	@$(BIN)/python -m benchmarks.needs $(ARGS)

witnesses: dev ## For each rule a small change of its machine that breaks it.
	@$(BIN)/python -m benchmarks.witnesses $(ARGS)

breakers: dev ## Of the machines that break a rule, which an observer refuses (minutes); ARGS="flow.credit.Link"
	@$(BIN)/python -m benchmarks.breakers $(ARGS)

differential: dev ## Compare verdicts on random designs and nets with SPIN (minutes); ARGS="--designs 50".
	@$(BIN)/python -m benchmarks.random_designs.differential $(ARGS)

verdicts: dev ## Compare the four verdicts on random designs with plain algorithms (minutes); ARGS="--designs 500".
	@$(BIN)/python -m benchmarks.random_designs.verdicts $(ARGS)

oracles: dev programs ## What the book says of liveness, by a plain algorithm and by TLC.
	@$(BIN)/python -m benchmarks.oracles $(ARGS)

failover: dev ## A thousand random fault schedules on a cluster of brokers; ARGS="--target zookeeper --schedules 100".
	@$(BIN)/python -m benchmarks.failover $(ARGS)

explanations: dev ## Check the explanations of random designs' deadlocks (minutes); ARGS="--designs 500".
	@$(BIN)/python -m benchmarks.random_designs.explanations $(ARGS)

repairs: dev ## Look for repairs of random designs' deadlocks (minutes); ARGS="--designs 200".
	@$(BIN)/python -m benchmarks.random_designs.repairs $(ARGS)

mutants: dev ## Change one thing at a time: does anybody notice? (half an hour); ARGS="--only judge"
	@nice -n 5 $(BIN)/python -m benchmarks.mutants $(ARGS)

sabotage: dev ## Make implementations that do not work: does each suite notice? (minutes); ARGS="--publish docs"
	@nice -n 5 $(BIN)/python -m benchmarks.sabotage $(ARGS)

coverage: core ## By what each claim of the source texts is answered; 1 if one is open.
	@$(BIN)/python -m benchmarks.coverage

doctor: core ## Show what this machine has and what each part needs.
	@$(BIN)/checkvalve doctor

wheel: dev ## Build the wheel into dist/.
	@rm -rf dist && $(BIN)/python -m build --outdir dist . >/dev/null && ls dist/*.whl

ci: ## Run all that continuous integration runs.
	@.ci/run

clean: ## Remove whatever was made here.
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .checkvalve

# The rest is called by the targets above.

core:
	@$(PYTHON) .ci/setup.py

dev:
	@$(PYTHON) .ci/setup.py --extras dev

programs: dev
	@$(BIN)/python .ci/programs.py

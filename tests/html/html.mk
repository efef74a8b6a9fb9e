# The page of `blame html`, in headless Chromium; and whether its bundle is what its sources make. Included by the Makefile.
#   make html-test                      part of make test; in one browser
#   make html-test HTML_ARGS='-k Tree'  some of it
#   make html-page                      builds command/html/page/dist/page.html (needs npm; building blame does not)
#   make html-bench                     a page of 512 threads and an hour: its size, how soon it opens, how smoothly it pans
TEST_STAGES += $(if $(SAN),,html-test)
HTML_ARGS ?=
# Debian's module of Selenium belongs to Debian's Python.
HTML_PYTHON ?= $(shell for python in /usr/bin/python3 $(PYTHON); do $$python -c 'import selenium' 2>/dev/null && echo $$python && break; done)

.PHONY: html-test html-page html-bench
html-test: $(PRODUCTS) test-programs
	@test -n "$(HTML_PYTHON)" || { echo "html-test: Python finds no module selenium: run scripts/setup.sh (package python3-selenium)"; exit 1; }
	@BUILD=$(BUILD) $(HTML_PYTHON) -B tests/behaviour/run.py -j 1 tests/html $(HTML_ARGS)

html-page:
	cd command/html/page && npm ci --no-audit --no-fund && npm run build

html-bench: $(PRODUCTS)
	@BLAME_TEST_PAGE=$(abspath $(BUILD))/html_bench.html $(MAKE) --no-print-directory unit UNIT=test_html_timeline
	@BUILD=$(BUILD) $(HTML_PYTHON) -B tests/html/bench_timeline.py $(BUILD)/html_bench.html

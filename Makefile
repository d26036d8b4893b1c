# SPDX-License-Identifier: Apache-2.0
# The two commands for a new machine are `make demo` and `make test`. Everything is built in build/.
.PHONY: all demo test test-mpi lint bench stress-mpi fuzz install clean
all: build/build.ninja
	ninja -C build
build/build.ninja:
	scripts/install-packages
	meson setup build $(MESON_OPTIONS)
demo:
	scripts/install-packages demo
	$(MAKE) --no-print-directory all
	scripts/demo
test:
	scripts/install-packages test
	$(MAKE) --no-print-directory all
	scripts/run-tests build
test-mpi:
	scripts/install-packages test
	$(MAKE) --no-print-directory all
	scripts/run-tests build --mpi
lint:
	scripts/install-packages test
	scripts/lint
bench: all
	scripts/bench
# 20 runs a launcher, an hour or more: RUNS=5 for fewer
stress-mpi: all
	scripts/install-packages test
	scripts/stress-mpi -n $(or $(RUNS),20) -b build
fuzz:
	scripts/install-packages test
	scripts/fuzz $(or $(SECONDS_EACH),600)
install: all
	meson install -C build
clean:
	rm -rf build build-*

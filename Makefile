# A thin front for Meson, Ninja and scripts/. From a fresh clone each target does all that it needs.

PREFIX ?= /usr/local
TIME   ?= 60

export PKG_CONFIG_PATH := $(CURDIR)/build/deps/lib/pkgconfig$(if $(PKG_CONFIG_PATH),:$(PKG_CONFIG_PATH))

SHELL       := bash
.SHELLFLAGS := -o pipefail -c

.PHONY: build run test bench fuzz coverage format install clean help

build: ## the program, build/mishap
	@scripts/setup build
	@test -f build/build.ninja || meson setup build --buildtype=release
	@ninja -C build --quiet | sed '/no work to do/d'

run: build ## show one mishap in every dialect
	@scripts/demo

test: ## all tests with gcc, clang and sanitizers; ONLY=gcc runs one of the builds
	@scripts/setup build test
	@scripts/check $(ONLY)

bench: build ## measure
	@scripts/setup bench
	@scripts/bench

fuzz: ## feed every parser with garbage, TIME=60 seconds each
	@scripts/setup build fuzz
	@scripts/fuzz $(TIME)

coverage: ## line coverage of the core, fails below 95 %
	@scripts/setup build coverage
	@scripts/coverage

format: ## lay out the C sources as .clang-format says
	@scripts/setup format
	@git ls-files -z '*.c' '*.h' | xargs -0 -r clang-format -i

install: build ## into PREFIX=/usr/local, below DESTDIR if set
	@meson configure build -Dprefix='$(PREFIX)'
	@DESTDIR='$(DESTDIR)' meson install -C build

clean: ## remove build/
	@rm -rf build

help: ## this list
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

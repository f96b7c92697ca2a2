# The front door. Everything is done by `cargo xtask`; this file only finds cargo and the pinned toolchain.

export PATH := $(PATH):$(HOME)/.cargo/bin

TOOLCHAIN := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
XTASK := cargo xtask

.DEFAULT_GOAL := help
.PHONY: help demo check fuzz mutants bench bench-plan doc install toolchain

help: ## list what make can do
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

demo: toolchain ## build, run the ring, and say where the report lies (ARGS="--as-published" for the paper's case)
	@$(XTASK) demo $(ARGS)

check: toolchain ## run every test and check (ARGS="STEP..." for some, ARGS=--list to see them)
	@$(XTASK) ci $(ARGS)

fuzz: toolchain ## run every fuzz target for an hour, keep the corpora (ARGS="--seconds 600 record" for less, and for some)
	@$(XTASK) fuzz $(ARGS)

mutants: toolchain ## change the code in one place at a time: does a test fail? (ARGS="checker --shard 0/40" for a part)
	@$(XTASK) mutants $(ARGS)

bench: toolchain ## measure ours beside the peers (BENCH=round-trip for one)
	@$(XTASK) bench $(BENCH) $(ARGS)

bench-plan: toolchain ## measure the planner of networks beside tsnkit and z3 (ARGS="--part planted" for one part)
	@$(XTASK) bench-plan $(ARGS)

install: toolchain ## install the program, libmpirt and mpirt.h (PREFIX=/usr/local, DESTDIR= for packages)
	@$(XTASK) install --prefix "$(or $(PREFIX),/usr/local)" $(if $(DESTDIR),--destdir "$(DESTDIR)")

doc: toolchain ## build the documentation of every crate into target/doc
	@cargo doc --workspace --no-deps --locked

# What is missing is fetched where rustup is there, and named where it is not. The version is the one of rust-toolchain.toml.
toolchain:
	@command -v cc >/dev/null || { \
	    echo "A C compiler is missing. As root: apt-get install build-essential"; exit 1; }
	@command -v cargo >/dev/null || { \
	    echo "cargo is missing. Install rustup (https://rustup.rs, or Debian's package 'rustup'), then call make again."; \
	    exit 1; }
	@{ cargo --version && cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1 || \
	    { command -v rustup >/dev/null && \
	      rustup toolchain install $(TOOLCHAIN) --profile minimal -c clippy -c rustfmt --no-self-update; } || { \
	    echo "Rust $(TOOLCHAIN) with clippy and rustfmt cannot be had here; install rustup, or see what it says above."; exit 1; }

# SPDX-License-Identifier: MIT
# libretrybudget. `make help` lists the targets.

.DEFAULT_GOAL := all

CC      ?= cc
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
ARCH    ?=
LIBC    ?=
UNWIND  ?= yes
JSON    ?= $(if $(TARGET),no,yes)
NCURSES ?= $(if $(TARGET),no,yes)
ZLIB    ?= $(if $(TARGET),no,yes)
SYSTEMD ?= $(if $(TARGET),no,yes)
ELF     ?= $(if $(TARGET),no,yes)

# For other programs than this machine's own: make ARCH=i386, make ARCH=aarch64, make LIBC=musl, each
# in a folder of its own. A CC on the command line is taken as it is; INIH is the archive to link.
TARGET  := $(strip $(filter-out x86_64 amd64,$(ARCH:arm64=aarch64)) $(filter-out glibc,$(LIBC)))
ifeq ($(TARGET),)
B       ?= build
INIH    ?= -l:libinih.a
LIBDIR  ?= $(PREFIX)/lib
else ifeq ($(filter i386 aarch64 musl,$(TARGET)),)
$(error ARCH may be i386 or aarch64, LIBC may be musl, one of them at a time)
else
include scripts/targets.mk
endif

BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
CONFDIR ?= $(PREFIX)/share/libretrybudget
# Where bash, zsh and fish look for what a package brings.
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
export B

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

VERSION  := 0.2.0
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion \
	    -Wno-sign-conversion
COMMON   := -std=c11 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -Ishim $(WARNINGS) -MMD -MP

# The shim must be built neutral: with 64-bit off_t or FORTIFY its own definitions would be renamed
# or wrapped (HAZARDS 49, 61); LTO and unwinding through a preload drop aliases (HAZARDS 9).
SHIM_FLAGS := $(COMMON) -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-lto \
	      -U_FORTIFY_SOURCE -U_FILE_OFFSET_BITS -U_TIME_BITS -Wframe-larger-than=1024 \
	      -include sys/versions.h
ifeq ($(UNWIND),no)
SHIM_FLAGS += -DWITHOUT_LIBUNWIND
endif
ifeq ($(NCURSES),no)
SHIM_FLAGS += -DWITHOUT_NCURSES
endif
ifeq ($(JSON),no)
SHIM_FLAGS += -DWITHOUT_JANSSON
endif
ifeq ($(ZLIB),no)
SHIM_FLAGS += -DWITHOUT_ZLIB
endif
ifeq ($(SYSTEMD),no)
SHIM_FLAGS += -DWITHOUT_SYSTEMD
endif
ifeq ($(ELF),no)
SHIM_FLAGS += -DWITHOUT_LIBELF
endif
# nodelete: whoever opened it by dlopen has bound calls to it, and fork handlers are left with libc.
SHIM_LINK  := -shared -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack -Wl,-z,nodelete -Wl,--no-undefined \
	      -Wl,--exclude-libs,ALL -Wl,--version-script=$(B)/exports.map

# Only this machine's own programs may have a library of TLS, where its headers are.
header_of   = $(wildcard /usr/include/$(1) /usr/include/*-linux-*/$(1))
NO_PROBES  += $(if $(TARGET),tls_kept tls_plugged tls_gnutls, \
	      $(if $(call header_of,openssl/ssl.h),,tls_kept tls_plugged) \
	      $(if $(call header_of,gnutls/gnutls.h),,tls_gnutls))

# The part of a fleet, in the daemon and the command, needs hiredis; without its headers it is left out.
HIREDIS    ?= $(if $(TARGET),no,$(if $(call header_of,hiredis/async.h),yes,no))
ifeq ($(HIREDIS),no)
SHIM_FLAGS += -DWITHOUT_HIREDIS
NO_AGENT   := fleet fleet_guard fleet_label fleet_start fleet_link fleet_name fleet_restore fleet_sync fleet_tell
endif

# From the ground up: a room includes itself and those before it (scripts/check-floors).
ROOMS      := sys budget config region report dest conn pace admission
ROOM_OBJS  := $(patsubst %.c,$(B)/obj/%.o,$(foreach r,$(ROOMS),$(wildcard shim/$(r)/*.c)))
HOOK_OBJS  := $(patsubst %.c,$(B)/obj/%.o,$(wildcard shim/hook/*.c))
TOOL_OBJS  := $(patsubst %.c,$(B)/obj/%.o,$(wildcard shim/tool/*.c))
# What the daemon shares with the command: finding processes and reading their regions.
AGENT_OBJS := $(patsubst %.c,$(B)/obj/%.o,$(filter-out $(NO_AGENT:%=shim/agent/%.c), \
	      $(wildcard shim/agent/*.c))) \
	      $(patsubst %,$(B)/obj/shim/tool/%.o,asker chunk_file fair family fleet_call fleet_differs \
	      fleet_password fleet_rule holder ledger maps processes region_file snapshot tell)
# The pure parts of the daemon, for the units.
FLEET_OBJS := $(patsubst %,$(B)/obj/shim/%.o,agent/fleet_rules agent/fleet_wire agent/series tool/asker tool/fair \
	      tool/fleet_call tool/fleet_differs tool/fleet_rule tool/holder tool/ledger)
# The simulator, for the units: all of it but what prints JSON.
SIM_OBJS   := $(filter-out %/sim_json.o %/sim_play.o, \
	      $(patsubst %.c,$(B)/obj/%.o,$(wildcard shim/tool/sim_*.c)))
# Ten million attempts a second on one core; with -O2 it is nine. Who asks for less than that gets it.
$(SIM_OBJS): SHIM_FLAGS += $(if $(filter -O2,$(CFLAGS)),-O3)
UNIT_OBJS  := $(patsubst %.c,$(B)/obj/%.o,$(filter-out $(NO_UNITS:%=tests/unit/%.c), \
	      $(wildcard tests/unit/*.c)))
PROBES     := $(patsubst tests/probe/%.c,$(B)/probe/%,$(filter-out tests/probe/test_% \
	      $(NO_PROBES:%=tests/probe/%.c),$(wildcard tests/probe/*.c)))
PROBE_TEST := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/probe/test_*.c))

LIB  := $(B)/libretrybudget.so
TOOL := $(B)/retrybudget

all: $(LIB) $(TOOL) ## build the library and the command

$(LIB): $(HOOK_OBJS) $(ROOM_OBJS) $(B)/exports.map
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) $(SHIM_LINK) -o $@ $(AT_START) $(INIH) -lc \
		$(filter-out $(AT_START),$(ROOM_OBJS) $(HOOK_OBJS))

$(TOOL): $(TOOL_OBJS) $(ROOM_OBJS)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $(TOOL_OBJS) $(ROOM_OBJS) $(INIH) $(if $(filter no,$(JSON)),,-ljansson) \
		$(if $(filter no,$(NCURSES)),,-lncursesw -ltinfo) $(if $(filter no,$(ZLIB)),,-lz) \
		$(if $(filter no,$(ELF)),,-lelf) $(if $(filter no,$(HIREDIS)),,-lhiredis) -lpthread -lm

daemon: $(B)/retrybudgetd ## build the daemon: exporter (libevent), agent of a fleet (hiredis)

$(B)/retrybudgetd: $(AGENT_OBJS) $(ROOM_OBJS)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $(AGENT_OBJS) $(ROOM_OBJS) $(INIH) -levent \
		$(if $(filter no,$(HIREDIS)),,-lhiredis)

# The command looks for the library where it was installed.
$(B)/obj/shim/tool/library.o: SHIM_FLAGS += -DLIBDIR='"$(LIBDIR)"'
$(B)/obj/shim/tool/library.o: $(B)/libdir
ifneq ($(shell cat $(B)/libdir 2>/dev/null),$(LIBDIR))
.PHONY: $(B)/libdir
endif
$(B)/libdir:
	@mkdir -p $(@D) && echo '$(LIBDIR)' > $@

$(B)/exports.map: shim/sys/hooks.def shim/sys/real.h scripts/hooks Makefile | $(PREPARED)
	$(say) GEN $@
	@mkdir -p $(@D)
	$(Q)CC='$(CC)' CFLAGS='$(CFLAGS)' scripts/hooks map $< > $@.new && mv $@.new $@

# What runs at start-up, or for a record, and on the way of no call: small rather than fast, since
# its pages are memory of a program that alone uses the library.
SELDOM := $(patsubst %.c,$(B)/obj/%.o,$(wildcard shim/config/*.c shim/region/*.c shim/report/*.c) \
	  $(addprefix shim/hook/,imports.c inject.c load.c object.c start.c))
$(SELDOM): SHIM_FLAGS += -Os
# All of the code that runs at start-up, first in the file: a page that is touched brings the 64 KiB
# around it (fault-around), and a program that uses no network then has no more than these. With what
# the loader needs of the library of INI files and of libc they hold no more than that, so what of
# these rooms waits for a call or a record comes after.
LATER    = $(patsubst %,$(B)/obj/shim/%.o,report/callsite report/limit report/record report/refresh \
	   sys/lookup_mark sys/memory_limit sys/thread_io)
AT_START = $(filter-out $(LATER),$(SELDOM) $(filter $(B)/obj/shim/sys/%,$(ROOM_OBJS))) \
	   $(B)/obj/shim/hook/tls.o

$(B)/obj/shim/%.o: shim/%.c Makefile | $(PREPARED)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SHIM_FLAGS) -c -o $@ $<

# Two hundred files that run for a moment: what the compiler would take for their speed is not earned
# back. QUICKLY= for a debugger, which finds lines alone else.
QUICKLY ?= -O1 -g1
$(B)/obj/tests/%.o: tests/%.c Makefile | $(PREPARED)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(QUICKLY) $(COMMON) -Wno-conversion -Wno-missing-prototypes -c -o $@ $<

$(B)/unit: $(UNIT_OBJS) $(SIM_OBJS) $(FLEET_OBJS) $(ROOM_OBJS)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $(UNIT_OBJS) $(SIM_OBJS) $(FLEET_OBJS) $(ROOM_OBJS) $(INIH) -lcriterion -lpthread -lm

$(B)/unit-plain: $(UNIT_OBJS) $(SIM_OBJS) $(FLEET_OBJS) $(ROOM_OBJS) $(B)/obj/tests/unit/plain/runner.o
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(INIH) -lpthread -lm

$(B)/probes: $(PROBE_TEST)
	$(say) LD $@
	$(Q)$(CC) $(LDFLAGS) -o $@ $(PROBE_TEST) -lcriterion -lpthread

include tests/programs.mk

demo: ## show the shim stopping a real retry loop (installs what it needs)
	@scripts/install-deps demo
	@$(MAKE) --no-print-directory all $(CLIENTS)
	@scripts/demo

picture: ## put the picture of a run of the demo into README.md
	@scripts/install-deps demo
	@$(MAKE) --no-print-directory all $(CLIENTS)
	@scripts/demo --write

# What `make check` plays. Each string is a lane: its parts play in a row, beside the other lanes.
# What burns comes first in each (units; herds, bare storms of clients), so that the probes and the
# scenes of harm, which measure short times, run beside what waits.
CHECK_LANES := 'check-unit check-agent check-probe check-harm' \
	       'check-herd check-clients check-boot check-contract'

check: ## install what is missing, build, run the tests
	@scripts/install-deps check
	-@$(MAKE) $(AT_ONCE) test-programs
	@MAKE='$(MAKE)' scripts/tally scripts/side-by-side $(CHECK_LANES)

# Of what cannot be built this way the checks that need it speak again.
AT_ONCE = --no-print-directory -k -j$(shell nproc)

test-programs: all daemon $(B)/unit $(B)/probes $(PROBES) $(CONTRACT) $(CLIENTS) $(MIXED) $(HARM) \
	       $(HERD) $(LENDER) $(OTHER_LAYOUT) $(BENCHES)

check-unit: $(B)/unit all ## pure parts, with an injected clock (Criterion)
	@scripts/criterion $(B)/unit -j8 # some wait
	@scripts/check-docs
	@scripts/check-floors
	@scripts/check-parts

# They wait, most of the time.
AGENT := steer top rules run explain advise share versions logs many leases

check-agent: all daemon $(LENDER) $(OTHER_LAYOUT) ## the exporter and the command beside real programs in an outage
	@$(MAKE) $(AT_ONCE) -j4 --output-sync=target $(AGENT:%=agent-%)

agent-%:
	@tests/agent/$* --build $(B)

check-page: all daemon ## the status page in a browser; screenshots go to build/page
	@scripts/install-deps browser
	@tests/agent/page --build $(B)

check-deploy: all daemon ## the shipped files; the packages, built twice, in a fresh system, and purged
	@scripts/install-deps deploy
	@tests/deploy/rsyslog --build $(B)
	@tests/deploy/journald --build $(B)
	@tests/deploy/units --build $(B)
	@tests/deploy/managed --build $(B)
	@tests/deploy/confined --build $(B)
	@tests/deploy/grafana --build $(B)
	@tests/deploy/prometheus --build $(B)
	@tests/deploy/packages $(B)/deb
	@tests/deploy/base $(B)/base.tar
	@tests/deploy/installed $(B)/deb $(B)/base.tar
	@tests/deploy/debian $(B)/deb $(B)/base.tar

deb: ## build Debian packages in build/deb
	@scripts/install-deps deb
	@scripts/build-deb $(B)/deb

check-fleet: all daemon $(FLEET) ## a fleet's budget in Redis: the ledger, agents, faults
	@scripts/install-deps fleet
	@tests/fleet/run --build $(B)

check-boot: $(B)/unit ## the same as on a machine that has just booted
	@scripts/at-boot $(B)/unit -j8 --filter '!(sim_*|*_interleave|lockout|corrupted)/*' # clocks of their own

check-probe: all $(B)/probes $(PROBES) ## a tiny program per trap, bare and under the shim
	@RETRYBUDGET_BUILD=$(B) scripts/criterion --alone $(B)/probes -j24 # they wait, most of the time

probes: $(PROBES)

check-clients: all $(CLIENTS) $(MIXED) ## real clients against failing servers
	tests/clients/run --build $(B) --cover

check-matrix: all $(CLIENTS) $(MIXED) ## every client against every way of failing
	@scripts/install-deps check
	tests/clients/run --build $(B) --matrix

check-guests: all ## other preloads, sanitizers, C++, plug-ins: the shim in odd company
	@scripts/install-deps guests
	@scripts/install-deps i386 || true # guest-32 can then not be built, and is skipped
	@$(MAKE) --no-print-directory -k $(CLIENTS) $(GUESTS) $(GUESTS_IF)
	@scripts/install-deps i386 && $(MAKE) --no-print-directory ARCH=i386 B=$(B)/i386 \
		$(B)/i386/libretrybudget.so || echo "check-guests: nothing for i386 can be built here"
	tests/guests/run --build $(B)

amplification: all $(CLIENTS) ## what retries add to a server's load, under every rule: the table in tests/README.md
	@scripts/install-deps check
	@tests/clients/amplification --build $(B) --renew

check-admission: all $(CLIENTS) ## real servers given four times what they can serve
	tests/clients/admission/run --build $(B)

check-harm: all $(HARM) ## what the library does to healthy work and to storms: the scenes that tell most
	tests/harm/run --build $(B)

check-harm-long: all $(HARM) ## the same, all scenes
	tests/harm/run --build $(B) --long

lab: all $(LAB) $(HERD) ## storms with real programs, bare and under the library, drawn; QUICK=1: the short form
	@scripts/install-deps lab
	tests/lab/run --build $(B) $(if $(QUICK),--quick) $(SCENE)

check-cycles: all $(LAB) ## what the library might do to itself, by real programs and the simulator
	@scripts/install-deps lab
	tests/lab/run --build $(B) --cycles

check-herd: all $(HERD) ## loops around one server that is down, in shares, and the way back of all
	tests/herd/run --build $(B)
	tests/herd/caps --build $(B)
	tests/herd/bursts --build $(B)

check-herd-long: all $(HERD) ## the same: two hundred, and a minute; and loops that start programs
	tests/herd/run --build $(B) --whole
	tests/herd/loops --build $(B)

rules-earn: all $(HARM) $(LABELLED) ## what each rule of the judging earns: the table in tests/README.md (hours); RULES=A,B: their rows
	scripts/rules-earn $(B) --renew $(if $(RULES),--rules $(RULES))

check-labelled: all $(LABELLED) ## is it a retry? the guess against clients that know the truth
	tests/clients/labelled/run --build $(B)

check-contract: all probes $(CONTRACT) ## what a program can see of the shim: nothing
	tests/contract/run --build $(B)

check-suites: ## other projects' own test suites, bare and under the shim (installs them)
	@scripts/install-deps suites
	@$(MAKE) --no-print-directory all
	@tests/suites/prepare $(B)
	@scripts/tally tests/suites/run --build $(B) $(if $(PART),--share $(PART)) $(SUITES)

# They take long, and have the least to do with sockets.
SLOWEST := cpython/test_multiprocessing* cpython/test_faulthandler cpython/test_logging cpython/test_io \
	   cpython/test_asyncio.test_tasks cpython/test_asyncio.test_futures* twisted/*test_agent \
	   libsoup/server-test ruby/ruby/test_process twisted/*test_process ruby/test_open3 \
	   ruby/ruby/test_io tcl/io tcl/chanio

check-long: ## what takes too long for `make check` (scripts/parts); PART=1/4 a fourth of it
	@scripts/install-deps check
	@MAKE='$(MAKE)' SUITES="$(SLOWEST:%=--without '%')" PART='$(PART)' scripts/tally \
		scripts/side-by-side "$$(scripts/parts $(PART) | tr '\n' ' ')"

# Criterion cannot start under the sanitizers (tests/unit/plain). Warnings are the plain build's job:
# instrumented code has larger frames, and false ones.
SANITIZED := CFLAGS="-O1 -g -fno-omit-frame-pointer -isystem tests/unit/plain $$flags" \
	     LDFLAGS="$$flags" WARNINGS=-w

check-sanitize: ## units under ASan+UBSan and under TSan
	@scripts/install-deps build
	@MAKE='$(MAKE)' scripts/tally scripts/side-by-side check-asan check-tsan

check-asan:
	@flags="-fsanitize=address,undefined -fno-sanitize-recover=all"; \
		$(MAKE) $(AT_ONCE) B=$(B)/asan $(SANITIZED) $(B)/asan/unit-plain
	@ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 \
		UBSAN_OPTIONS=print_stacktrace=1 $(B)/asan/unit-plain

check-tsan:
	@flags=-fsanitize=thread; \
		$(MAKE) $(AT_ONCE) B=$(B)/tsan $(SANITIZED) $(B)/tsan/unit-plain
	@TSAN_OPTIONS=suppressions=tests/unit/plain/tsan.supp:halt_on_error=1:die_after_fork=0 \
		$(B)/tsan/unit-plain

FUZZED := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	  -fno-sanitize-recover=all

check-arch: ## units and probes for i386, musl and aarch64 (installs what it needs)
	@MAKE='$(MAKE)' scripts/tally scripts/check-arch

check-valgrind: all $(PROBES) ## probes under the shim in memcheck
	@scripts/install-deps bench
	scripts/memcheck $(B)

check-death: all $(B)/unit $(B)/probes $(B)/probe/deaths $(B)/probe/ramp_deaths ## processes that share a budget, killed 10,000 times, or stopped; a share of 65,536
	@RETRYBUDGET_BUILD=$(B) PROBE_KILLS=5000 $(B)/probes --filter 'death/*' -j2
	@PROBE_DESTINATIONS=65536 $(B)/unit --filter 'chunks/a_share_grows_and_keeps_all'

fuzz: ## libFuzzer on what reads bytes of others; SECONDS=N in all, 60 without
	@scripts/install-deps fuzz
	@$(MAKE) $(AT_ONCE) B=$(B)/fuzzed CC=clang WARNINGS=-w CFLAGS="$(FUZZED)" fuzzers
	@tests/fuzz/run $(B)/fuzzed/fuzz $(or $(SECONDS),60)

fuzzers: $(FUZZERS)

soak: all $(SOAK) ## an hour, or SECONDS=N, of everything at once beside bare twins; what grows, what breaks
	@scripts/install-deps check
	tests/soak/run --build $(B) --seconds $(or $(SECONDS),3600)

lint: ## clang-format, clang-tidy, cppcheck, the manual pages and the completions
	@scripts/install-deps lint
	@$(MAKE) $(AT_ONCE) lint-c lint-format $(patsubst %.c,%.tidied,$(wildcard shim/*/*.c))

lint-format:
	clang-format --dry-run -Werror $(wildcard shim/*/*.[ch] tests/*/*.[ch] \
		tests/clients/*/*.[ch])

lint-c:
	cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability,performance \
		--suppress=missingIncludeSystem --std=c11 '-DElfW(type)=Elf64_##type' -Ishim shim
	scripts/check-docs pages completions
	scripts/check-floors

%.tidied: %.c # no file of that name is made
	$(Q)clang-tidy --quiet $< -- $(filter-out -MMD -MP,$(COMMON))

bench: ## measure the cost and the effect, bare against shim in one run
	@scripts/install-deps bench
	@$(MAKE) --no-print-directory all $(BENCHES)
	@scripts/bench
	@scripts/bench-peers $(B) && cat $(B)/bench-peers.md

fleet-results: all daemon $(FLEET) ## what one Redis carries, and a fleet simulated: tests/fleet/RESULTS.md
	@scripts/install-deps fleet
	@tests/fleet/results --build $(B)

results: bench ## the same, written to tests/bench/RESULTS.md
	@scripts/bench-results $(B)

# For another machine or libc the library alone. Else also a link to it where '$LIB' leads, so that
# LD_PRELOAD='$(PREFIX)/$LIB/libretrybudget.so' finds in each program the one that fits.
ifneq ($(TARGET),)
install: $(LIB)
	install -d $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIB) $(DESTDIR)$(LIBDIR)/

uninstall:
	rm -f $(DESTDIR)$(LIBDIR)/$(notdir $(LIB))
else
MAN_PAGES  = $(notdir $(wildcard conf/man/*.[1578]))
LOADER_LIB = $(or $(shell scripts/loader-lib $(TOOL)),lib)
LOADER_DIR = $(DESTDIR)$(PREFIX)/$(LOADER_LIB)

install: all ## PREFIX, DESTDIR and LIBDIR are honoured; with ARCH=i386 or LIBC=musl that library
	install -d $(DESTDIR)$(LIBDIR) $(DESTDIR)$(BINDIR) $(DESTDIR)$(CONFDIR) \
		$(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	install -m 755 $(LIB) $(DESTDIR)$(LIBDIR)/
	[ $(LOADER_DIR) = $(DESTDIR)$(LIBDIR) ] || { install -d $(LOADER_DIR) && \
		ln -sfr $(DESTDIR)$(LIBDIR)/$(notdir $(LIB)) $(LOADER_DIR)/; }
	install -m 755 $(TOOL) $(DESTDIR)$(BINDIR)/
	[ ! -e $(B)/retrybudgetd ] || install -m 755 $(B)/retrybudgetd $(DESTDIR)$(BINDIR)/
	install -m 644 conf/retrybudget.ini $(DESTDIR)$(CONFDIR)/
	install -d $(DESTDIR)$(CONFDIR)/scenarios
	install -m 644 conf/scenarios/*.ini $(DESTDIR)$(CONFDIR)/scenarios/
	for page in $(MAN_PAGES); do \
		install -D -m 644 conf/man/$$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$$page; done
	install -m 644 conf/completion/retrybudget.bash $(DESTDIR)$(BASHDIR)/retrybudget
	install -m 644 conf/completion/_retrybudget $(DESTDIR)$(ZSHDIR)/
	install -m 644 conf/completion/retrybudget.fish $(DESTDIR)$(FISHDIR)/

uninstall: $(TOOL) ## removes what install put there
	rm -f $(LOADER_DIR)/$(notdir $(LIB)) $(DESTDIR)$(LIBDIR)/$(notdir $(LIB)) $(DESTDIR)$(BINDIR)/$(notdir $(TOOL)) \
		$(DESTDIR)$(BINDIR)/retrybudgetd \
		$(DESTDIR)$(CONFDIR)/retrybudget.ini \
		$(patsubst conf/%,$(DESTDIR)$(CONFDIR)/%,$(wildcard conf/scenarios/*.ini)) \
		$(foreach p,$(MAN_PAGES),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $p))/$p) \
		$(DESTDIR)$(BASHDIR)/retrybudget $(DESTDIR)$(ZSHDIR)/_retrybudget \
		$(DESTDIR)$(FISHDIR)/retrybudget.fish
	-rmdir $(DESTDIR)$(CONFDIR)/scenarios $(DESTDIR)$(CONFDIR) 2>/dev/null
endif

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

clean: ## remove what was built
	$(Q)rm -rf $(B)

# Not what lies below suites and deb, which have files and folders of that name for other ends.
-include $(shell find $(B) \( -path $(B)/suites -o -path '$(B)/deb*' \) -prune -o -name '*.d' -type f -print 2>/dev/null)
# Targets that are no files are all named like words.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):\([^=]\|$$\).*/\1/p' Makefile)
.DELETE_ON_ERROR:

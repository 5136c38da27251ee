# SPDX-License-Identifier: MIT
# How to build for $(TARGET), which is not this machine's own; read by the Makefile. What a machine
# lacks: scripts/install-deps $(TARGET).

B ?= build/$(TARGET)

# gcc-multilib, which has the kernel's headers where -m32 looks for them, cannot be installed beside
# a cross compiler; so they are named here. Below i686 64-bit atomics are calls into libatomic. No
# note that GCC 11 has changed their alignment: ours is spelt out (shim/sys/cell.h).
ifeq ($(TARGET),i386)
TRIPLET    := i386-linux-gnu
TARGET_CC  := gcc -m32 -march=i686 -Wno-psabi -idirafter /usr/include/$(shell gcc -print-multiarch)
LOADER     := /lib/ld-linux.so.2
else ifeq ($(TARGET),aarch64)
TRIPLET    := aarch64-linux-gnu
TARGET_CC  := aarch64-linux-gnu-gcc
LOADER     := /lib/ld-linux-aarch64.so.1
else ifeq ($(TARGET),musl)
TRIPLET    := $(shell uname -m)-linux-musl
TARGET_CC  := musl-gcc -isystem $(B)/include
endif
ifneq ($(origin CC),command line)
CC := $(TARGET_CC)
endif

# Where $LIB leads in the LD_PRELOAD of such a program, as its loader says if it is here. musl's
# knows no $LIB; the directory is the one that Debian's musl searches.
LIBDIR ?= $(PREFIX)/$(or $(if $(LOADER),$(shell scripts/loader-lib $(LOADER))),lib/$(TRIPLET))

# inih: installed for that machine, or unpacked by install-deps. Of what glibc's headers put into
# this machine's own libinih.a musl has everything, but for the 64-bit name of fopen from 1.2.4 on.
ifeq ($(TARGET),musl)
INIH     ?= $(B)/libinih.a
PREPARED := $(B)/libinih.a $(B)/include/ini.h
else
INIH     ?= $(firstword $(wildcard /usr/lib/$(TRIPLET)/libinih.a build/foreign/$(TRIPLET)/libinih.a))
PREPARED := inih-$(TARGET)
endif
PREPARED += compiler-$(TARGET)

compiler-$(TARGET):
	@command -v $(firstword $(CC)) >/dev/null || { echo "no $(firstword $(CC)), which builds for $(TARGET):" \
		"run scripts/install-deps $(TARGET), or name another with CC=" >&2; exit 1; }
.PHONY: compiler-$(TARGET)

$(B)/libinih.a:
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-sym fopen64=fopen "$$(gcc -print-file-name=libinih.a)" $@

# musl-gcc looks nowhere but among musl's headers.
$(B)/include/ini.h:
	@mkdir -p $(@D)
	$(Q)ln -sfn /usr/include/linux $(@D)/linux
	$(Q)ln -sfn /usr/include/asm-generic $(@D)/asm-generic
	$(Q)ln -sfn /usr/include/$$(gcc -print-multiarch)/asm $(@D)/asm
	$(Q)ln -sfn /usr/include/ini.h $@

inih-$(TARGET):
	@[ -n "$(INIH)" ] || { echo "no libinih.a for $(TARGET): install libinih-dev for it," \
		"run scripts/install-deps $(TARGET), or name one with INIH=FILE" >&2; exit 1; }
.PHONY: inih-$(TARGET)

# Criterion seldom exists for another machine: its stand-in does.
$(B)/obj/tests/unit/%.o: CFLAGS += -isystem tests/unit/plain

# Units and probes of what musl does not have: swapcontext, getaddrinfo_a, RTLD_DEEPBIND.
ifeq ($(TARGET),musl)
NO_UNITS  := $(basename $(notdir $(shell grep -lsE 'swapcontext|interleave[.]h' tests/unit/*.c)))
NO_PROBES := calls_load calls_lookup calls_number fastopen lookup_async lookups tell vfork_range
endif

print-cc:
	@echo '$(CC)'
.PHONY: print-cc

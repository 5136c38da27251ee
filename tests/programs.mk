# SPDX-License-Identifier: MIT
# The programs that the tests start, each folder's as it needs them. Included by the Makefile.

TEST_C = $(CC) $(CFLAGS) $(COMMON) -Wno-conversion -Wno-missing-prototypes

$(B)/probe/tls_kept: LIBRARY := -lssl -lcrypto
$(B)/probe/tls_gnutls: LIBRARY := -lgnutls
$(B)/probe/tls_plugged: | $(B)/probe/tls_kept.so
$(B)/probe/tls_kept.so: tests/probe/tls_kept.c Makefile
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -DA_LIBRARY -fPIC -shared -MF $@.d -o $@ $< -lssl -lcrypto
$(B)/probe/tls_twin: LIBRARY = -Wl,-z,lazy $(B)/probe/tls_twin_1.so -Wl,-rpath,'$$ORIGIN'
$(B)/probe/tls_twin: $(B)/probe/tls_twin_1.so $(B)/probe/tls_twin_plugin.so
$(B)/probe/tls_twin_1.so: TWIN = -DTHE_LIBRARY='"the first"' -Wl,--hash-style=sysv
$(B)/probe/tls_twin_2.so: TWIN = -DTHE_LIBRARY='"the second"' -Wl,--hash-style=gnu
$(B)/probe/tls_twin_plugin.so: TWIN = -DA_PLUGIN -Wl,-z,now $(B)/probe/tls_twin_2.so \
	-Wl,-rpath,'$$ORIGIN'
$(B)/probe/tls_twin_plugin.so: $(B)/probe/tls_twin_2.so
# With relocations of its code, as objects from before there was -fPIC.
TWIN_TEXT := $(if $(TARGET),$(if $(filter i386,$(TARGET)),-fno-pic), \
	     $(if $(filter x86_64,$(shell uname -m)),-fno-pic -mcmodel=large))
ifneq ($(strip $(TWIN_TEXT)),)
$(B)/probe/tls_twin: $(B)/probe/tls_twin_text.so $(B)/probe/tls_twin_late.so
endif
# Of its library a function is chosen while the plug-in waits for the loader; musl knows no such.
$(B)/probe/tls_twin_early.so: TWIN = -DA_CHOICE -fno-plt
$(B)/probe/tls_twin_late.so: TWIN = -DA_PLUGIN -Wl,-z,lazy -Wl,--no-as-needed \
	$(B)/probe/tls_twin_early.so $(B)/probe/tls_twin_1.so -Wl,-rpath,'$$ORIGIN'
$(B)/probe/tls_twin_late.so: $(B)/probe/tls_twin_early.so $(B)/probe/tls_twin_1.so
$(B)/probe/tls_twin_text.so: TWIN = -DA_PLUGIN -O2 $(TWIN_TEXT) -Wl,-z,notext
$(B)/probe/tls_twin_%.so: tests/probe/tls_twin.c Makefile | $(PREPARED)
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -fPIC -shared -Wl,-soname,$(@F) -MF $@.d -o $@ $< $(TWIN)
$(B)/probe/tls_unloaded: $(B)/probe/tls_unloaded_1.so $(B)/probe/tls_unloaded_2.so \
	$(B)/probe/tls_unloaded_plugin.so
$(B)/probe/tls_unloaded_1.so: TWIN = -DTHE_LIBRARY=1
$(B)/probe/tls_unloaded_2.so: TWIN = -DTHE_LIBRARY=2
$(B)/probe/tls_unloaded_plugin.so: TWIN = -DA_PLUGIN -Wl,-z,lazy
$(B)/probe/tls_unloaded_%.so: tests/probe/tls_unloaded.c Makefile | $(PREPARED)
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -fPIC -shared -Wl,-soname,$(@F) -MF $@.d -o $@ $< $(TWIN)
$(B)/probe/%: tests/probe/%.c Makefile | $(PREPARED)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) $(QUICKLY) -MF $@.d -o $@ $< $(LIBRARY) -lpthread -ldl
$(B)/clients/%: tests/clients/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $< -lpthread
$(B)/clients/mixed/libevent: LIBRARY := -levent_core
$(B)/clients/mixed/libuv: LIBRARY := -luv
$(B)/clients/mixed/%: tests/clients/mixed/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(COMMON) -Wno-conversion -MF $@.d -o $@ $< $(LIBRARY)
$(B)/clients/%: tests/clients/labelled/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $< -lpthread
$(B)/clients/%.so: tests/clients/labelled/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -U_FORTIFY_SOURCE \
		-fPIC -shared -MF $@.d -o $@ $< -ldl
$(B)/clients/labelled/%.class: tests/clients/labelled/drivers/%.java
	$(say) JAVAC $<
	@mkdir -p $(@D)
	$(Q)javac -d $(@D) $<
$(B)/fuzz/%: tests/fuzz/%.c $(ROOM_OBJS) Makefile
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(COMMON) -MF $@.d -o $@ $< $(ROOM_OBJS) -fsanitize=fuzzer $(INIH) -lpthread -lm
$(B)/soak/%: tests/soak/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $< -lpthread
HERD := $(B)/herd/server $(B)/herd/threads $(B)/bench/looper $(B)/clients/syns
$(B)/herd/%: tests/herd/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $<
FLEET := $(B)/fleet/model $(B)/fleet/replay $(B)/fleet/simulate $(B)/fleet/wall_clock.so
$(B)/fleet/wall_clock.so: tests/fleet/wall_clock.c Makefile
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -shared -fPIC -o $@ $<
$(B)/fleet/%: tests/fleet/%.c $(FLEET_OBJS) $(B)/obj/shim/sys/random.o $(B)/obj/shim/sys/hash.o Makefile
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $(filter %.c %.o,$^)
# A library as a later version may be, with another layout of what a share holds.
OTHER_LAYOUT := $(B)/later/libretrybudget.so
$(B)/later/include/region/region.h: shim/region/region.h tests/programs.mk
	$(say) GEN $@
	@mkdir -p $(@D)
	$(Q)sed -e "s/^#define REGION_LAYOUT .*/#define REGION_LAYOUT 'z'/" \
		-e 's/^#define REGION_SITES .*/#define REGION_SITES 5/' $< > $@

$(OTHER_LAYOUT): $(B)/later/include/region/region.h $(HOOK_OBJS) $(ROOM_OBJS)
	@$(MAKE) --no-print-directory B=$(B)/later CFLAGS='-O1 -I$(B)/later/include' $@
	@touch $@
# A daemon without a server: what of the daemon is on this side of it.
LENDER := $(B)/agent/lender
$(LENDER): tests/agent/lender.c $(patsubst %,$(B)/obj/shim/%.o,tool/fair agent/demand_cells agent/demand_wants \
	   agent/host_demand agent/last_look agent/lending agent/sightings tool/chunk_file tool/family tool/maps \
	   tool/processes tool/region_file tool/snapshot) $(ROOM_OBJS) Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $(filter %.c %.o,$^) $(INIH)
LAB := $(B)/lab/server $(B)/lab/loop $(B)/lab/front $(B)/harm/pool $(B)/harm/serve $(B)/clients/syns $(B)/clients/dns
$(B)/lab/%: tests/lab/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $< -lpthread
# Linked with all rooms, beside which it has no hooks.
$(B)/bench/contend $(B)/bench/verdict: $(B)/bench/%: tests/bench/linked/%.c $(ROOM_OBJS) Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $< $(ROOM_OBJS) $(INIH) -lpthread
$(B)/bench/%: tests/bench/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $< -lpthread

FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/*.c))
SOAK    := $(B)/soak/client $(B)/soak/server
# The guests: small programs with odd company. What a machine cannot build is skipped by the runner.
GUEST_C   := $(TEST_C)
GUEST_CXX := $(CXX) $(filter-out -std=%,$(CFLAGS)) -std=c++17 -D_GNU_SOURCE -Wall -Wextra -Werror -MMD -MP
GUESTS    := $(addprefix $(B)/guests/,guest loader deepbind plugged plugin.so thrower \
	     thrower-static-libgcc thrower.so)
GUESTS_IF := $(addprefix $(B)/guests/,guest-asan guest-asan-static guest-tsan guest-asan-clang \
	     guest-tsan-clang guest-32)

$(B)/guests/guest-asan:        GUEST_C := gcc -fsanitize=address
$(B)/guests/guest-asan-static: GUEST_C := gcc -fsanitize=address -static-libasan
$(B)/guests/guest-tsan:        GUEST_C := gcc -fsanitize=thread
$(B)/guests/guest-asan-clang:  GUEST_C := clang -fsanitize=address
$(B)/guests/guest-tsan-clang:  GUEST_C := clang -fsanitize=thread
$(B)/guests/guest-32:          GUEST_C  = $(shell $(MAKE) -s ARCH=i386 print-cc)
$(GUESTS_IF): $(B)/guests/%: tests/guests/guest.c tests/probe/probe.h Makefile
	$(say) CC $@
	@mkdir -p $(@D)
	@$(GUEST_C) -O1 -g -std=c11 -D_GNU_SOURCE -o $@ $< -lpthread 2>$@.log || \
		{ rm -f $@; echo "$@ cannot be built here: $$(tail -n 1 $@.log)"; }
$(B)/guests/thrower-static-libgcc: GUEST_CXX += -static-libgcc
$(B)/guests/thrower $(B)/guests/thrower-static-libgcc: tests/guests/thrower.cc Makefile
	$(say) CXX $@
	@mkdir -p $(@D)
	$(Q)$(GUEST_CXX) -MF $@.d -o $@ $< -lpthread
$(B)/guests/thrower.so: tests/guests/thrower.cc Makefile
	$(say) CXX $@
	@mkdir -p $(@D)
	$(Q)$(GUEST_CXX) -DPLUG_IN -fPIC -shared -MF $@.d -o $@ $< -lpthread
$(B)/guests/%.so: tests/guests/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(GUEST_C) -fPIC -shared -MF $@.d -o $@ $<
$(B)/guests/%: tests/guests/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(GUEST_C) -MF $@.d -o $@ $< -lpthread -ldl
$(B)/contract/fortified: CFLAGS += -O2
$(B)/contract/%: tests/contract/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $< -lpthread -ldl
# Our frames must stay on the stack for the tripwire to find them.
$(B)/contract/guest.so: CFLAGS += -fno-optimize-sibling-calls
$(B)/contract/%.so: tests/contract/%.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -U_FORTIFY_SOURCE \
		-fPIC -ftls-model=initial-exec -shared -static-libgcc -Wl,-Bsymbolic-functions \
		-MF $@.d -o $@ $< -ldl
$(B)/contract/early.so $(B)/contract/early-malloc.so: tests/probe/early.c Makefile
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -DEARLY_LIBRARY \
		$(if $(findstring malloc,$@),-DEARLY_MALLOC) -fPIC -shared -MF $@.d -o $@ $< -ldl
$(B)/contract/%: tests/contract/%.cc Makefile
	$(say) CXX $<
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CFLAGS) -std=c++17 -Wall -Wextra -Werror -o $@ $<
$(B)/contract/%.so: tests/contract/%.cc Makefile
	$(say) CXX $@
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CFLAGS) -std=c++17 -Wall -Wextra -Werror -DA_LIBRARY -fPIC -shared -o $@ $<

BENCHES := $(B)/bench/contend $(B)/bench/verdict $(patsubst tests/bench/%.c,$(B)/bench/%,$(wildcard tests/bench/*.c))
MIXED   := $(B)/clients/mixed/libevent $(B)/clients/mixed/libuv
CLIENTS := $(patsubst tests/clients/%.c,$(B)/clients/%,$(wildcard tests/clients/*.c))
LABELLED := $(B)/clients/dns $(B)/clients/witness.so $(B)/clients/labelled/Tries.class \
	    $(patsubst tests/clients/labelled/%.c, \
	    $(B)/clients/%,$(filter-out %/witness.c,$(wildcard tests/clients/labelled/*.c)))

# Programs that step on a trap, and libraries that look on; contract/tripwire.c is for x86-64.
GUARDS   := witness.so guest.so $(if $(filter x86_64,$(shell uname -m)),tripwire.so)
CONTRACT := $(patsubst tests/contract/%.c,$(B)/contract/%, \
	    $(filter-out %/witness.c %/guest.c %/tripwire.c,$(wildcard tests/contract/*.c))) \
	    $(addprefix $(B)/contract/,$(GUARDS) early.so early-malloc.so static_objects static_objects.so)

HARM := $(addprefix $(B)/harm/,faulty pool serve)
$(B)/harm/faulty: $(addprefix tests/harm/faulty,.h _say.c _say.h _syns.c _syns.h)
$(B)/harm/pool $(B)/harm/serve: $(addprefix tests/harm/,options.c options.h work.c work.h)
$(B)/harm/%: tests/harm/%.c Makefile
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(TEST_C) -MF $@.d -o $@ $(filter %.c,$^) -lpthread

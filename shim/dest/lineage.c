/* SPDX-License-Identifier: MIT */
/* A word for each kind of kin: 32 bits of hash, 32 of time in units of 2^27 ns. Of a destination's
 * words the oldest is written over. */
#include "dest/lineage.h"

#include "dest/address.h"
#include "dest/destinations.h"
#include "dest/firsts.h"
#include "sys/confined.h"
#include "sys/hash.h"
#include "sys/real.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TIME_SHIFT 27

/* Refusals in a row from which a lineage spins, and the pause that ends a row: more than most
 * programs need to start and to end. */
#define ROW       10
#define PAUSE     (80 * NS_PER_MS)
#define ROW_BITS  8
#define ROW_MASK  ((INT64_C(1) << ROW_BITS) - 1)
#define ROW_SHIFT 20

enum kin { KIN_PROGRAM, KIN_COMMAND, KIN_PARENT, KIN_SESSION, KIN_SERVICE, KINDS };

static uint64_t program, service; /* 0: this process shares nothing; it is of no service */
static uint64_t command;          /* the program with its arguments */
static bool named;
/* As the constructor knew it: who locks himself in (seccomp) may not ask later, and one whose
 * parent has ended still is of its lineage. */
static struct {
	int32_t process, parent, session;
} at_start;

/* The destinations that this process has tried while they failed; and those of them where it has
 * not been answered since. */
static struct firsts tried, owed;

static uint64_t hash_of(uint64_t seed, enum kin kind, uint64_t value)
{
	uint64_t words[] = { (uint64_t)kind, value };
	uint64_t hash = hash_bytes(seed, words, sizeof(words));

	hash = (hash ^ hash >> 32) & UINT32_MAX;
	return hash ? hash : 1;
}

/* What interprets a script is not the program. */
static bool is_interpreter(const char *path)
{
	static const char *const names[] = { "python", "perl", "ruby", "php",  "node",
		                             "bash",   "dash", "sh",   "java", "tclsh" };
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Bytes of a file of /proc, 0 where it cannot be had. */
static size_t read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = real.read(fd, out, size - 1);
	real.close(fd);
	if (n < 0)
		n = 0;
	out[n] = '\0';
	return (size_t)n;
}

static uint64_t hash_program(void)
{
	char path[256] = "", text[512];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	uint64_t hash = HASH_START;
	const char *word;
	size_t n;

	if (length <= 0)
		strncpy(path, program_invocation_name, sizeof(path) - 1);
	hash = hash_bytes(hash, path, strlen(path));
	if (is_interpreter(path)) {
		n = read_file("/proc/self/cmdline", text, sizeof(text));
		word = text + strnlen(text, n) + 1;
		if (word < text + n && *word != '-')
			hash = hash_bytes(hash, word, strlen(word));
	}
	return hash ? hash : 1;
}

/* All arguments, however long: the last one may be what tells two apart. */
static uint64_t hash_command(uint64_t hash)
{
	char part[256];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return hash;
	while ((n = real.read(fd, part, sizeof(part))) > 0)
		hash = hash_bytes(hash, part, (size_t)n);
	real.close(fd);
	return hash;
}

/* The cgroup of a unit that systemd started as a service, not the whole session of a user. */
static uint64_t hash_service(void)
{
	static const char suffix[] = ".service";
	char text[512];
	size_t n = read_file("/proc/self/cgroup", text, sizeof(text));
	const char *line = n ? strstr(text, "0::/") : NULL;
	size_t length = line ? strcspn(line, "\n") : 0, end = sizeof(suffix) - 1;

	if (length <= end || memcmp(line + length - end, suffix, end) != 0)
		return 0;
	return hash_bytes(HASH_START, line, length);
}

void lineage_setup(bool is_named)
{
	named = is_named;
	service = hash_service();
	program = hash_program();
	command = hash_command(program);
	at_start.process = thread_process();
	at_start.parent = (int32_t)getppid();
	at_start.session = (int32_t)getsid(0);
}

/* In a share of its own a command is of one lineage, whoever started it. */
static void kin_of_this(uint64_t kin[KINDS])
{
	bool forked = at_start.process != thread_process() && !confined_by_itself();
	int32_t parent = forked ? (int32_t)getppid() : at_start.parent;
	int32_t session = forked ? (int32_t)getsid(0) : at_start.session;

	kin[KIN_PROGRAM] = hash_of(program, KIN_PROGRAM, 0);
	kin[KIN_COMMAND] = named ? hash_of(command, KIN_COMMAND, 0) : 0;
	kin[KIN_PARENT] = hash_of(command, KIN_PARENT, (uint64_t)parent);
	kin[KIN_SESSION] = hash_of(command, KIN_SESSION, (uint64_t)session);
	kin[KIN_SERVICE] = service ? hash_of(command, KIN_SERVICE, service) : 0;
}

/* Another one's hash is never 0. */
static bool is_lineage(const uint64_t kin[KINDS], uint64_t hash)
{
	for (int kind = KIN_COMMAND; kind < KINDS; kind++)
		if (kin[kind] == hash)
			return true;
	return false;
}

static uint32_t time_of(int64_t now)
{
	return (uint32_t)((uint64_t)now >> TIME_SHIFT);
}

/* Units since then; what lies in the future a rival has just written. */
static uint32_t age_of(int64_t word, int64_t now)
{
	uint32_t age = time_of(now) - (uint32_t)word;

	return age > UINT32_MAX / 2 ? 0 : age;
}

enum lineage lineage_of(struct destination *destination, uint32_t slot, int64_t horizon,
                        int64_t now)
{
	uint64_t kin[KINDS];
	bool knows_program = false;

	if (!program || !firsts_note(&tried, slot))
		return LINEAGE_UNKNOWN;
	firsts_note(&owed, slot);
	kin_of_this(kin);
	for (int i = 0; i < REGION_KIN; i++) {
		int64_t word = LOAD(destination->kin[i]);
		uint64_t hash = (uint64_t)word >> 32;

		if (word == 0 || (int64_t)age_of(word, now) > horizon >> TIME_SHIFT)
			continue;
		if (hash == kin[KIN_PROGRAM])
			knows_program = true;
		else if (is_lineage(kin, hash))
			return LINEAGE_SAME;
	}
	return knows_program ? LINEAGE_OTHER : LINEAGE_STRANGER;
}

static void remember(struct destination *destination, uint64_t hash, int64_t now)
{
	int64_t next = (int64_t)(hash << 32 | time_of(now)), oldest = -1;
	int place = 0;

	for (int i = 0; i < REGION_KIN; i++) {
		int64_t word = LOAD(destination->kin[i]);
		int64_t age = word == 0 ? INT64_MAX : (int64_t)age_of(word, now);

		if ((uint64_t)word >> 32 == hash) {
			if (word != next)
				STORE(destination->kin[i], next);
			return;
		}
		if (age > oldest) {
			oldest = age;
			place = i;
		}
	}
	STORE(destination->kin[place], next);
}

void lineage_failed(struct destination *destination, int64_t now)
{
	uint64_t kin[KINDS];

	if (!program)
		return;
	/* From now on what it has done itself tells what its tries are. */
	firsts_note(&tried, destination_slot(destination));
	firsts_note(&owed, destination_slot(destination));
	kin_of_this(kin);
	for (int kind = 0; kind < KINDS; kind++)
		if (kin[kind])
			remember(destination, kin[kind], now);
}

void lineage_answered(struct destination *destination)
{
	uint64_t kin[KINDS];

	if (!program || !firsts_take(&owed, destination_slot(destination)))
		return;
	kin_of_this(kin);
	for (int i = 0; i < REGION_KIN; i++) {
		int64_t word = LOAD(destination->kin[i]);

		if (word != 0 && is_lineage(kin, (uint64_t)word >> 32))
			cell_swap(&destination->kin[i], word, 0);
	}
}

/* The word of a row: when the last of it was over, in units of 2^20 ns, << 8 | how many. */
bool lineage_spins(struct destination *destination, int64_t now)
{
	int64_t word = LOAD(destination->kin_row), at = now >> ROW_SHIFT;
	int64_t count = word & ROW_MASK, gap = at - (word >> ROW_BITS);

	if (gap > PAUSE >> ROW_SHIFT || gap < -(10 * NS_PER_S >> ROW_SHIFT))
		count = 0;
	if (count < ROW_MASK)
		count++;
	cell_swap(&destination->kin_row, word,
	          (gap < 0 ? word >> ROW_BITS : at) << ROW_BITS | count);
	return count > ROW;
}

void lineage_held(struct destination *destination, int64_t until)
{
	int64_t word = LOAD(destination->kin_row), at = until >> ROW_SHIFT;

	if (at > word >> ROW_BITS)
		cell_swap(&destination->kin_row, word, at << ROW_BITS | (word & ROW_MASK));
}

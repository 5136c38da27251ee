/* SPDX-License-Identifier: MIT */
/*
 * What a member of a share can do to the others: it spoils the shared memory, its name and its
 * rights in every way that its user may. After each, the program that has the memory mapped, and
 * one that starts then, must work as if alone. Usage: member SHARE
 */
#include "probe.h"

#include "shares.h"
#include "tallies.h"

#include <fcntl.h>

#define LATE 3000 /* ms */

static char path[256];
static uint16_t good, bad;

/* The segment that the name leads to, mapped: NULL without one, as when bare. */
static void *segment(int *id)
{
	void *at;

	*id = share_segment(path);
	if (*id < 0)
		return NULL;
	at = shmat(*id, NULL, 0);
	return at == (void *)-1 ? NULL : at;
}

static size_t size_of(int id)
{
	struct shmid_ds is;

	return shmctl(id, IPC_STAT, &is) == 0 ? is.shm_segsz : 0;
}

/* By all that cuts a file short. */
static void cut_short(int id, char *at)
{
	size_t size = size_of(id);
	struct shmid_ds is;
	char maps[128];
	int fd = open(path, O_RDWR | O_NOFOLLOW);

	if (fd >= 0) {
		(void)!ftruncate(fd, 0);
		close(fd);
	}
	(void)!truncate(path, 0);
	shmget(0, 1, 0600);
	if (shmctl(id, IPC_STAT, &is) == 0) {
		is.shm_segsz = 1;
		shmctl(id, IPC_SET, &is);
	}
	/* Only who may trace the whole machine can open it there; who can may end any program. */
	snprintf(maps, sizeof(maps), "/proc/self/map_files/%lx-%lx", (unsigned long)at,
	         (unsigned long)at + (size + 4095) / 4096 * 4096);
	fd = geteuid() == 0 ? -1 : open(maps, O_RDWR);
	if (fd >= 0) {
		(void)!ftruncate(fd, 0);
		close(fd);
	}
}

/* Zeroes, and pages that have gone. */
static void punch(int id, char *at)
{
	size_t size = size_of(id);

	madvise(at, size, MADV_REMOVE);
	madvise(at, size, MADV_DONTNEED);
}

static void fill(int id, char *at, int byte)
{
	memset(at, byte, size_of(id) & ~4095UL);
}

static void fill_ones(int id, char *at)
{
	fill(id, at, 0xff);
}

static void fill_text(int id, char *at)
{
	fill(id, at, 'x');
}

static void fill_noise(int id, char *at)
{
	uint64_t dice = 88172645463325252u;

	for (size_t i = 0; i < size_of(id) / 8; i++) {
		dice ^= dice << 13;
		dice ^= dice >> 7;
		((uint64_t *)(void *)at)[i] = dice ^= dice << 17;
	}
}

/* Every budget, those of destinations that nobody has too. */
static void set_budgets(struct region *region, int64_t holding, int64_t due_at)
{
	region->process.holding = holding;
	for (int i = 0; i < REGION_CHUNK; i++) {
		region->first.destinations[i].budget.bucket.holding = holding;
		region->first.destinations[i].budget.due_at = due_at;
	}
}

/* No token left, and no repeat before the end of time. */
static void spend_all(int id, char *at)
{
	(void)id;
	set_budgets((struct region *)(void *)at, INT64_C(10000) << 32, INT64_MAX);
}

/* More tokens than there can be. */
static void fill_all(int id, char *at)
{
	(void)id;
	set_budgets((struct region *)(void *)at, (int64_t)UINT32_MAX << 32 | INT32_MAX, 0);
}

static void another_layout(int id, char *at)
{
	(void)id;
	((struct region *)(void *)at)->magic ^= INT64_C(1) << 57;
}

static void another_size(int id, char *at)
{
	(void)id;
	((struct region *)(void *)at)->size += 8;
}

static void remove_memory(int id, char *at)
{
	(void)at;
	shmctl(id, IPC_RMID, NULL);
}

static void take_rights(int id, char *at)
{
	struct shmid_ds is;

	(void)at;
	if (shmctl(id, IPC_STAT, &is) != 0)
		return;
	is.shm_perm.mode = 0;
	shmctl(id, IPC_SET, &is);
}

static void remove_name(int id, char *at)
{
	(void)id;
	(void)at;
	unlink(path);
}

static void lead_away(const char *text)
{
	unlink(path);
	(void)!symlink(text, path);
}

static void lead_to_a_file(int id, char *at)
{
	(void)id;
	(void)at;
	lead_away("/etc/passwd");
}

static void lead_to_itself(int id, char *at)
{
	(void)id;
	(void)at;
	lead_away(path);
}

/* Of the right size and the wrong owner's content: it must stay as it is. */
static void lead_to_another(int id, char *at)
{
	int other = shmget(IPC_PRIVATE, sizeof(struct region), IPC_CREAT | 0600);
	char text[64];

	(void)id;
	(void)at;
	snprintf(text, sizeof(text), "retrybudget:%d:1", other);
	lead_away(text);
	shmctl(other, IPC_RMID, NULL);
}

static void become_a_fifo(int id, char *at)
{
	(void)id;
	(void)at;
	unlink(path);
	mkfifo(path, 0600);
}

static void become_a_directory(int id, char *at)
{
	(void)id;
	(void)at;
	unlink(path);
	mkdir(path, 0700);
}

static void become_a_file(int id, char *at)
{
	int fd;

	(void)id;
	(void)at;
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	(void)!ftruncate(fd, 1);
	close(fd);
}

static const struct {
	const char *name;
	void (*act)(int id, char *at);
} acts[] = {
	{ "cut short", cut_short },
	{ "punched", punch },
	{ "filled with ones", fill_ones },
	{ "filled with text", fill_text },
	{ "filled with noise", fill_noise },
	{ "spent", spend_all },
	{ "full of tokens", fill_all },
	{ "of another layout", another_layout },
	{ "of another size", another_size },
	{ "removed", remove_memory },
	{ "without rights", take_rights },
	{ "without a name", remove_name },
	{ "a link to a file", lead_to_a_file },
	{ "a link to itself", lead_to_itself },
	{ "a link to another segment", lead_to_another },
	{ "a FIFO", become_a_fifo },
	{ "a directory", become_a_directory },
	{ "a file", become_a_file },
};

/* Whether everything is as it would be alone. */
static bool is_well(void)
{
	int64_t start = now_ms();
	bool well = true;

	for (int i = 0; i < 3; i++) {
		int fd = connected(good), err;

		well = well && fd >= 0 && echo(fd, "hello");
		if (fd >= 0)
			close(fd);
		err = attempt(bad, NULL);
		well = well && err == ECONNREFUSED;
	}
	return well && now_ms() - start < LATE;
}

/* One that starts now. */
static const char *start_one(void)
{
	char ports[2][8];
	int status;
	pid_t child = fork();

	if (child == 0) {
		snprintf(ports[0], sizeof(ports[0]), "%u", good);
		snprintf(ports[1], sizeof(ports[1]), "%u", bad);
		execl("/proc/self/exe", "member", "fresh", ports[0], ports[1], NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return !WIFEXITED(status) ? "has died" : WEXITSTATUS(status) == 0 ? "works" : "fails";
}

/* By a process of its own, which attacks and ends. */
static void attack(int which)
{
	pid_t child = fork();
	int id = -1;
	char *at;

	if (child == 0) {
		at = segment(&id);
		if (at)
			acts[which].act(id, at);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* Attempts counted in the memory that the name leads to, -1 if it leads to none. */
static int64_t counted(void)
{
	int id = share_segment(path);
	struct region *region = id >= 0 ? shmat(id, NULL, SHM_RDONLY) : (void *)-1;
	struct tally all;
	int64_t attempts;

	if (region == (void *)-1)
		return -1;
	region_sum(region, &all);
	attempts = all.attempts;
	shmdt(region);
	return attempts;
}

/* Whether what starts now has the memory that the name leads to: it counts its attempts there. The
 * first may have to make it. */
static bool shares_now(void)
{
	int64_t before;

	start_one();
	before = counted();
	start_one();
	return before >= 0 && counted() > before;
}

int main(int argc, char **argv)
{
	int held;

	if (argc > 3 && strcmp(argv[1], "fresh") == 0) {
		good = (uint16_t)atoi(argv[2]);
		bad = (uint16_t)atoi(argv[3]);
		return is_well() ? 0 : 1;
	}
	/* What it spoils, and what others make anew for it, goes with a namespace of its own. */
	if (argc == 2 && unshare(CLONE_NEWIPC) == 0)
		execl("/proc/self/exe", "member", argv[1], "inside", NULL);
	share_find(argv[1], path, sizeof(path));
	bad = refusing_port(&held);
	good = start_server(SERVER_ECHO, NULL);
	/* Only where there is something to attack. */
	if (own_region() && !shares_now())
		printf("shares nothing\n");
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
		attack((int)i);
		printf("%s: the program %s, ", acts[i].name, is_well() ? "works" : "fails");
		printf("a new one %s\n", start_one());
		fflush(stdout);
		/* What cannot be taken away by the library makes room for the next attack. */
		if (share_segment(path) < 0)
			(void)remove(path);
		start_one();
		if (own_region() && !shares_now())
			printf("%s: those that start later share nothing\n", acts[i].name);
	}
	return 0;
}

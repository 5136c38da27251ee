/* SPDX-License-Identifier: MIT */
/*
 * Exceptions, pthread_cancel and pthread_exit around the hooks, and through one: destructors must
 * run once each, nothing may stay behind, and the program must say what it says without the shim.
 * Built as a C++ program, as one that is linked with libgcc statically, and as a plug-in that a C
 * program loads (plugged.c): in each of them another unwinder is at work (HAZARDS 69).
 *
 * The ports of the stage: 7000 refuses, 7001 answers, 7002 accepts and says nothing, 7003 never
 * answers a SYN.
 */
#include "thrower.h"

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dirent.h>
#include <malloc.h>
#include <netdb.h>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

enum { REFUSES = 7000, ANSWERS, HOLDS, SILENT };

/* How long a thread may take to end once it was cancelled: a hold that ignores it lasts longer. */
const std::chrono::seconds AT_ONCE(4);

std::atomic<int> made, destroyed, unwound, finished, live, tries;

/* One in every frame that is unwound; it owns memory, so that a destructor which is left out is a
 * leak, and one that runs twice a crash. */
class Witness
{
	std::string text;

      public:
	Witness() : text(200, 'w')
	{
		made++;
		live++;
	}
	Witness(const Witness &) = delete;
	~Witness()
	{
		destroyed++;
		live--;
	}
};

class Socket
{
	Witness witness;

      public:
	const int fd;

	Socket() : fd(socket(AF_INET, SOCK_STREAM, 0))
	{
		if (fd < 0)
			throw std::runtime_error("socket");
	}
	/* close is a cancellation point, and a destructor none to throw out of. */
	~Socket()
	{
		int state;

		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		close(fd);
		pthread_setcancelstate(state, nullptr);
	}
};

struct Refused : std::runtime_error {
	const int err;

	explicit Refused(int err) : std::runtime_error(std::strerror(err)), err(err)
	{
	}
};

__attribute__((noinline)) void dial(const Socket &s, int port)
{
	Witness witness;
	sockaddr_in to = {};

	to.sin_family = AF_INET;
	to.sin_port = htons((uint16_t)port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(s.fd, (sockaddr *)&to, sizeof(to)) != 0)
		throw Refused(errno);
}

__attribute__((noinline)) void converse(int port)
{
	Socket s;
	char back[8] = "";
	Witness witness;

	dial(s, port);
	if (send(s.fd, "hello\n", 6, MSG_NOSIGNAL) != 6 || recv(s.fd, back, 6, MSG_WAITALL) != 6 ||
	    std::strcmp(back, "hello\n") != 0)
		throw Refused(errno);
	throw std::runtime_error(back);
}

/* Thrown by the caller of a hook, and caught two frames further out; refused and paced ones too. */
void act_throw()
{
	int refused = 0, answers = 0, other = 0;

	for (int i = 0; i < 6; i++)
		try {
			converse(i % 3 == 2 ? ANSWERS : REFUSES);
		} catch (const Refused &e) {
			(e.err == ECONNREFUSED ? refused : other)++;
		} catch (const std::runtime_error &e) {
			(std::strcmp(e.what(), "hello\n") == 0 ? answers : other)++;
		}
	std::printf("refused %d, answered %d, other %d\n", refused, answers, other);
}

int close_and_throw(void *cookie)
{
	Witness witness;

	throw std::runtime_error((const char *)cookie);
}

/* Through a hook and libc: fclose calls back into the program (fopencookie). */
void act_fclose()
{
	cookie_io_functions_t functions = {};
	int caught = 0;

	functions.close = close_and_throw;
	for (int i = 0; i < 3; i++) {
		FILE *stream = fopencookie((void *)"thrown", "w", functions);

		try {
			Witness witness;

			std::fclose(stream);
		} catch (const std::runtime_error &e) {
			caught += std::strcmp(e.what(), "thrown") == 0;
		}
	}
	std::printf("caught %d\n", caught);
}

/* A thread whose end is told by how it ended. */
__attribute__((noinline)) void *guarded(void (*body)())
{
	Witness witness;

	try {
		body();
		finished++;
	} catch (abi::__forced_unwind &) {
		unwound++;
		throw;
	} catch (...) {
		std::puts("an exception that nobody threw");
	}
	return nullptr;
}

template <void (*body)()> void *thread_of(void *)
{
	return guarded(body);
}

/* Refused again and again: bare the loop spins through connect, under the shim it is held there. */
void dial_for_ever()
{
	for (;;) {
		Socket s;

		tries++;
		try {
			dial(s, REFUSES);
		} catch (const Refused &) {
		}
		pthread_testcancel();
	}
}

/* Waits in the kernel's connect. */
void dial_silent()
{
	Socket s;

	dial(s, SILENT);
}

void read_for_ever()
{
	Socket s;
	char c;

	dial(s, HOLDS);
	if (send(s.fd, "hello\n", 6, MSG_NOSIGNAL) == 6)
		recv(s.fd, &c, 1, 0);
}

void look_up(const char *name)
{
	Witness witness;
	addrinfo hints = {}, *found = nullptr;

	hints.ai_family = AF_INET;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(name, "80", &hints, &found) == 0)
		freeaddrinfo(found);
}

void look_up_silent()
{
	for (;;)
		look_up("silent.test");
}

void look_up_refused()
{
	for (;;) {
		tries++;
		look_up("servfail.test");
		pthread_testcancel();
	}
}

void answer_and_exit()
{
	Witness witness;

	try {
		converse(ANSWERS);
	} catch (const std::runtime_error &) {
	}
	try {
		converse(REFUSES);
	} catch (const Refused &) {
	}
	pthread_exit(nullptr);
}

int descriptors()
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir) != nullptr)
		n++;
	closedir(dir);
	return n;
}

/* A thread that is cancelled once it has had time to be where it blocks. */
template <void (*body)()> void cancel()
{
	pthread_t thread;
	void *end;

	pthread_create(&thread, nullptr, thread_of<body>, nullptr);
	usleep(400000);
	const auto asked = std::chrono::steady_clock::now();
	pthread_cancel(thread);
	pthread_join(thread, &end);
	const bool late = std::chrono::steady_clock::now() - asked > AT_ONCE;
	std::printf("%s%s\n", end == PTHREAD_CANCELED ? "cancelled" : "not cancelled",
	            late ? ", late" : "");
	/* For the driver: how often bare, and that under the shim the thread was held meanwhile. */
	if (const char *path = std::getenv("THROWER_TRIES")) {
		std::FILE *file = std::fopen(path, "w");

		std::fprintf(file, "%d\n", tries.load());
		std::fclose(file);
	}
}

void act_exit()
{
	const int threads = 24;
	pthread_t thread;
	struct mallinfo2 before = {}, after;

	for (int i = 0; i < threads; i++) {
		if (i == threads / 2)
			before = mallinfo2();
		pthread_create(&thread, nullptr, thread_of<answer_and_exit>, nullptr);
		pthread_join(thread, nullptr);
	}
	after = mallinfo2();
	std::printf("%d threads, %s\n", threads,
	            after.uordblks - before.uordblks < 4096 ? "no leak" : "a leak");
}

const struct {
	const char *name;
	void (*act)();
} actions[] = {
	{ "throw", act_throw },
	{ "throw-through-fclose", act_fclose },
	{ "cancel-connect", cancel<dial_silent> },
	{ "cancel-connect-wait", cancel<dial_for_ever> },
	{ "cancel-read", cancel<read_for_ever> },
	{ "cancel-lookup", cancel<look_up_silent> },
	{ "cancel-lookup-wait", cancel<look_up_refused> },
	{ "exit", act_exit },
};

} // namespace

extern "C" int throw_act(const char *name)
{
	for (const auto &action : actions) {
		int fds;

		if (std::strcmp(action.name, name) != 0)
			continue;
		fds = descriptors();
		action.act();
		std::printf("unwound %d, finished %d, witnesses %s\n", unwound.load(),
		            finished.load(), made == destroyed && live == 0 ? "gone" : "wrong");
		std::printf("descriptors left %d\n", descriptors() - fds);
		return 0;
	}
	std::fprintf(stderr, "no action '%s'\n", name);
	return 2;
}

#ifndef PLUG_IN
int main(int argc, char **argv)
{
	return argc > 1 ? throw_act(argv[1]) : 2;
}
#endif

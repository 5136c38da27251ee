/* SPDX-License-Identifier: MIT */
/*
 * C++ objects that connect when they are made, before main, and when they are destroyed, after it
 * (HAZARDS 1, 23). Built as a program, and as a library whose place in LD_PRELOAD decides
 * whether the shim has been constructed by then.
 */
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

/* A listening socket of our own, spoken to within one thread. */
class Caller
{
      public:
	explicit Caller(std::string name) : name_(std::move(name))
	{
		use("made");
	}

	~Caller()
	{
		use("destroyed");
	}

      private:
	void use(const char *when)
	{
		sockaddr_in at = {};
		socklen_t len = sizeof(at);
		int listener = socket(AF_INET, SOCK_STREAM, 0),
		    fd = socket(AF_INET, SOCK_STREAM, 0);
		char data[8] = "";

		at.sin_family = AF_INET;
		at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		bind(listener, reinterpret_cast<sockaddr *>(&at), sizeof(at));
		getsockname(listener, reinterpret_cast<sockaddr *>(&at), &len);
		int refused = connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at));
		int error = errno;
		listen(listener, 1);
		int accepted = connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at));
		if (accepted == 0) { /* else there is nobody to accept */
			int peer = accept(listener, nullptr, nullptr);
			send(fd, "word", 5, MSG_NOSIGNAL);
			recv(peer, data, 5, MSG_WAITALL);
			close(peer);
		}
		close(fd);
		close(listener);
		dprintf(1, "%s %s: %d %s, %d, %s\n", name_.c_str(), when, refused,
		        error == ECONNREFUSED ? "refused" : "otherwise", accepted, data);
	}

	std::string name_;
};

#ifdef A_LIBRARY
Caller of_library("library");
#else
Caller of_program("program");
thread_local Caller of_thread("thread");
#endif

} // namespace

#ifndef A_LIBRARY
int main()
{
	(void)&of_thread;
	Caller of_main("main");
	return 0;
}
#endif

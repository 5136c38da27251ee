/* SPDX-License-Identifier: MIT */
/*
 * Numbers as high as they go (HAZARDS 29).
 * Usage: high_numbers low|table|million	up to 19,999; both sides of where the shim's table
 * of sockets ends; near one million
 */
#include "trap.h"

static uint16_t good, bad;

static int refuse(int fd)
{
	struct sockaddr_in to = loopback(bad);

	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
}

static void at(int number)
{
	struct sockaddr_in to = loopback(good);
	int low = socket(AF_INET, SOCK_STREAM, 0), err = -1, again, result;
	socklen_t len = sizeof(err);

	printf("%d: moved %d", number, dup2(low, number) == number && close(low) == 0);
	printf(", %s", error_name(refuse(number)));
	again = fcntl(number, F_DUPFD_CLOEXEC, number + 1);
	printf(", doubled %d, closed %d", again == number + 1, close(number));
	printf(", connected %d", connect(again, (struct sockaddr *)&to, sizeof(to)));
	printf(", %s", echo(again, "word") ? "works" : "broken");
	getsockopt(again, SOL_SOCKET, SO_ERROR, &err, &len);
	printf(", error %d", err);
	result = close_range(number - 1, number + 8, 0);
	printf(", range %d", result);
	result = (int)send(again, "x", 1, MSG_NOSIGNAL);
	printf(", then %d %s", result, error_name(errno));
	low = open("/dev/zero", O_RDONLY);
	dup2(low, again);
	close(low);
	printf(", a file %d\n", (int)read(again, &err, sizeof(err)));
	close(again);
}

int main(int argc, char **argv)
{
	static const int low[] = { 1000, 4095, 19980 }, table[] = { 65534, 65535, 65536 },
			 million[] = { 999999, 1048560 };
	const char *way = argc > 1 ? argv[1] : "low";
	const int *numbers = *way == 'l' ? low : *way == 't' ? table : million;
	int highest = *way == 'l' ? 20000 : *way == 't' ? 65600 : 1048576, held;
	struct rlimit limit = { highest, highest };

	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		return PROBE_CANNOT;
	good = start_answering();
	bad = refusing_port(&held);
	for (int i = 0; i < (*way == 'm' ? 2 : 3); i++)
		at(numbers[i]);
	printf("beyond: %d\n", dup2(1, highest));
	closefrom(3);
	printf("open: %d\n", count_fds());
	return 0;
}

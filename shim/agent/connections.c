/* SPDX-License-Identifier: MIT */
/* evhttp tells of no connection that ends, nor of one that asks nothing: they are counted by the
 * events that wait for them. */
#include "agent/connections.h"

#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define SOON_US  1000 /* until one that was shut down is closed */
#define LATER_US 1000000

static struct connections *only; /* of the daemon's one server */

struct count {
	in_port_t port;
	int fds[2 * CONNECTIONS_MOST];
	size_t open;
	int quietest; /* its descriptor; -1: none */
	uint32_t silent;
};

/* That of its own end; 0: it is no TCP socket. */
static in_port_t port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = { 0 };
	socklen_t size = sizeof(address);

	if (getsockname(fd, &address.any, &size) != 0)
		return 0;
	if (address.any.sa_family == AF_INET)
		return address.v4.sin_port;
	return address.any.sa_family == AF_INET6 ? address.v6.sin6_port : 0;
}

static bool is_counted(const struct count *count, int fd)
{
	for (size_t i = 0; i < count->open; i++)
		if (count->fds[i] == fd)
			return true;
	return false;
}

/* Of a connection one event waits to read, another to write. */
static int count_one(const struct event_base *base, const struct event *event, void *arg)
{
	struct count *count = arg;
	const int fd = event_get_fd(event);
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	(void)base;
	if (fd < 0 || (event_get_events(event) & (EV_READ | EV_WRITE)) == 0 ||
	    count->open == sizeof(count->fds) / sizeof(*count->fds) || is_counted(count, fd) ||
	    port_of(fd) != count->port ||
	    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
	    info.tcpi_state == TCP_LISTEN)
		return 0;
	count->fds[count->open++] = fd;
	if (info.tcpi_state != TCP_ESTABLISHED && info.tcpi_state != TCP_CLOSE_WAIT)
		return 0; /* it has been shut down */
	if (count->quietest < 0 || info.tcpi_last_data_recv > count->silent) {
		count->quietest = fd;
		count->silent = info.tcpi_last_data_recv;
	}
	return 0;
}

static struct count count_all(const struct connections *connections)
{
	struct count count = { .port = port_of(evconnlistener_get_fd(connections->listener)),
		               .quietest = -1 };

	(void)event_base_foreach_event(connections->base, count_one, &count);
	return count;
}

/* evhttp sees its end, and closes it. */
static void end_quietest(const struct count *count)
{
	if (count->quietest >= 0)
		(void)shutdown(count->quietest, SHUT_RDWR);
}

static void pause_for(struct connections *connections, long us)
{
	const struct timeval time = { us / 1000000, us % 1000000 };

	if (event_add(connections->again, &time) == 0)
		(void)evconnlistener_disable(connections->listener);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct connections *connections = arg;

	(void)fd;
	(void)what;
	(void)evconnlistener_enable(connections->listener);
}

/* Where no descriptor is left accept(2) would fail again at once. arg: the listener's, which is
 * evhttp's own. */
static void on_error(struct evconnlistener *listener, void *arg)
{
	(void)listener;
	(void)arg;
	pause_for(only, LATER_US);
}

/* Before a connection is taken. NULL: as evhttp itself makes it. */
static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	struct connections *connections = arg;
	struct count count;

	(void)base;
	if (++connections->most <= CONNECTIONS_MOST)
		return NULL;
	count = count_all(connections);
	connections->most = count.open + 1;
	if (connections->most <= CONNECTIONS_MOST)
		return NULL;
	end_quietest(&count);
	pause_for(connections, SOON_US);
	return NULL;
}

void connections_end_quietest(struct connections *connections)
{
	const struct count count = count_all(connections);

	end_quietest(&count);
}

bool connections_bound(struct connections *connections, struct event_base *base,
                       struct evhttp *http, struct evhttp_bound_socket *bound)
{
	*connections = (struct connections) { .base = base,
		                              .listener = evhttp_bound_socket_get_listener(bound) };
	connections->again = event_new(base, -1, 0, on_again, connections);
	if (!connections->again)
		return false;
	only = connections;
	evconnlistener_set_error_cb(connections->listener, on_error);
	evhttp_set_bevcb(http, on_connection, connections);
	return true;
}

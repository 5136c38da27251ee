// SPDX-License-Identifier: MIT
/* One healthy conversation and connections to nobody, on libevent's bufferevents (README.md). */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEAST 1500000 /* µs */
#define ROOM  1000000

static struct event_base *base;
static struct sockaddr_in healthy, dead;
static int requests, done;
static long dials, began, started, took[ROOM];

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct bufferevent *open_to(struct sockaddr_in *to, bufferevent_data_cb read,
                                   bufferevent_event_cb event)
{
	struct bufferevent *peer = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	bufferevent_setcb(peer, read, NULL, event, NULL);
	bufferevent_enable(peer, EV_READ | EV_WRITE);
	bufferevent_socket_connect(peer, (struct sockaddr *)to, sizeof(*to));
	return peer;
}

static void dial(evutil_socket_t fd, short what, void *data);

static void failed(struct bufferevent *peer, short what, void *data)
{
	static const struct timeval at_once;

	(void)what, (void)data;
	bufferevent_free(peer);
	event_base_once(base, -1, EV_TIMEOUT, dial, NULL, &at_once);
}

static void dial(evutil_socket_t fd, short what, void *data)
{
	(void)fd, (void)what, (void)data;
	dials++;
	open_to(&dead, NULL, failed);
}

static void ask(struct bufferevent *peer)
{
	began = now_us();
	bufferevent_write(peer, "ping\n", 5);
}

static void answered(struct bufferevent *peer, void *data)
{
	struct evbuffer *input = bufferevent_get_input(peer);

	(void)data;
	if (evbuffer_get_length(input) < 5)
		return;
	evbuffer_drain(input, 5);
	took[done++] = now_us() - began;
	if (done == ROOM || (done >= requests && now_us() - started >= LEAST))
		event_base_loopbreak(base);
	else
		ask(peer);
}

static void opened(struct bufferevent *peer, short what, void *data)
{
	int on = 1;

	(void)data;
	if (!(what & BEV_EVENT_CONNECTED))
		exit(1);
	setsockopt(bufferevent_getfd(peer), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	ask(peer);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	healthy.sin_family = dead.sin_family = AF_INET;
	healthy.sin_addr.s_addr = dead.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	healthy.sin_port = htons((uint16_t)atoi(argv[1]));
	dead.sin_port = htons((uint16_t)atoi(argv[2]));
	requests = atoi(argv[3]);
	started = now_us();
	base = event_base_new();
	open_to(&healthy, answered, opened);
	for (int i = 0; i < atoi(argv[4]); i++)
		dial(-1, 0, NULL);
	event_base_dispatch(base);
	for (int i = 0; i < done; i++)
		printf("%ld\n", took[i]);
	printf("dials %ld\n", dials);
	return 0;
}

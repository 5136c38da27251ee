// SPDX-License-Identifier: MIT
/* One healthy conversation and connections to nobody, on libuv (README.md). */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#define LEAST 1500000000 /* ns */
#define ROOM  1000000

struct dialer {
	uv_tcp_t socket;
	uv_connect_t request;
};

static uv_loop_t *loop;
static struct sockaddr_in healthy, dead;
static uv_tcp_t peer;
static uv_write_t sending;
static int requests, done;
static ssize_t got;
static long dials, took[ROOM];
static uint64_t began, started;

static void dial(uv_handle_t *socket);

static void failed(uv_connect_t *request, int status)
{
	struct dialer *dialer = request->data;

	(void)status;
	uv_close((uv_handle_t *)&dialer->socket, dial);
}

static void dial(uv_handle_t *socket)
{
	struct dialer *dialer = socket->data;

	dials++;
	uv_tcp_init(loop, &dialer->socket);
	dialer->socket.data = dialer->request.data = dialer;
	/* libuv keeps an error at once for itself and calls back with it. */
	uv_tcp_connect(&dialer->request, &dialer->socket, (struct sockaddr *)&dead, failed);
}

static void ask(void)
{
	static char line[] = "ping\n";
	uv_buf_t part = uv_buf_init(line, 5);

	began = uv_hrtime();
	uv_write(&sending, (uv_stream_t *)&peer, &part, 1, NULL);
}

static void lend(uv_handle_t *handle, size_t size, uv_buf_t *part)
{
	static char data[64];

	(void)handle, (void)size;
	*part = uv_buf_init(data, sizeof(data));
}

static void answered(uv_stream_t *stream, ssize_t n, const uv_buf_t *part)
{
	(void)stream, (void)part;
	if (n < 0)
		exit(1);
	got += n;
	if (got < 5)
		return;
	got = 0;
	took[done++] = (long)((uv_hrtime() - began) / 1000);
	if (done == ROOM || (done >= requests && uv_hrtime() - started >= LEAST))
		uv_stop(loop);
	else
		ask();
}

static void opened(uv_connect_t *request, int status)
{
	(void)request;
	if (status)
		exit(1);
	uv_read_start((uv_stream_t *)&peer, lend, answered);
	ask();
}

int main(int argc, char **argv)
{
	uv_connect_t request;

	if (argc < 5)
		return 2;
	loop = uv_default_loop();
	uv_ip4_addr("127.0.0.1", atoi(argv[1]), &healthy);
	uv_ip4_addr("127.0.0.1", atoi(argv[2]), &dead);
	requests = atoi(argv[3]);
	started = uv_hrtime();
	uv_tcp_init(loop, &peer);
	uv_tcp_nodelay(&peer, 1);
	uv_tcp_connect(&request, &peer, (struct sockaddr *)&healthy, opened);
	for (int i = 0; i < atoi(argv[4]); i++) {
		struct dialer *dialer = calloc(1, sizeof(*dialer));

		dialer->socket.data = dialer;
		dial((uv_handle_t *)&dialer->socket);
	}
	uv_run(loop, UV_RUN_DEFAULT);
	for (int i = 0; i < done; i++)
		printf("%ld\n", took[i]);
	printf("dials %ld\n", dials);
	return 0;
}

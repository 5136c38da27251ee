/* SPDX-License-Identifier: MIT */
/* Requests, and what they are answered. Nothing here changes anything. */
#include "agent/serve.h"

#include "agent/fleet.h"
#include "agent/fleet_tell.h"
#include "agent/page.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define HEADERS_MOST 8192
#define TIMEOUT      10 /* s for one request */
#define UNSENT_MOST  (64 << 20)

bool serve_host_is_local(const char *host)
{
	static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; host && i < sizeof(local) / sizeof(*local); i++) {
		size_t n = strlen(local[i]);

		if (strncasecmp(host, local[i], n) == 0 &&
		    (host[n] == '\0' ||
		     (host[n] == ':' && host[n + 1] &&
		      strspn(host + n + 1, "0123456789") == strlen(host + n + 1))))
			return true;
	}
	return false;
}

static void write_metrics(const struct served *served, FILE *out)
{
	exposition_write(served->totals, served->round, out);
	fleet_metrics(served->fleet, out);
}

static void write_page(const struct served *served, FILE *out)
{
	page_write(served->totals, served->round, out);
}

static void write_fleet(const struct served *served, FILE *out)
{
	fleet_print(served->fleet, out);
}

/* The time for the reader runs from now on. Else what it took to write the page down, seconds for a
 * host of many destinations on a busy machine, counts as his, and the page is cut off. */
static void give_time(struct evhttp_request *request)
{
	static const struct timeval whole = { .tv_sec = TIMEOUT };
	struct bufferevent *connection =
	    evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));

	event_base_update_cache_time(bufferevent_get_base(connection));
	bufferevent_set_timeouts(connection, &whole, &whole);
}

static void on_sent(const void *text, size_t size, void *arg)
{
	struct served *served = arg;

	served->unsent -= size;
	free((void *)text);
}

/* The text is the body's from here on, until its reader has taken it or is gone. */
static bool hand_over(struct served *served, struct evbuffer *body, char *text, size_t size)
{
	if (evbuffer_add_reference(body, text, size, on_sent, served) != 0)
		return false;
	served->unsent += size;
	return true;
}

static void answer(struct evhttp_request *request, struct served *served, const char *type,
                   void (*write)(const struct served *, FILE *))
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	struct evbuffer *body = evbuffer_new();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool is_whole;

	if (!body || !out) {
		evhttp_send_error(request, HTTP_INTERNAL, NULL);
		goto out;
	}
	write(served, out);
	is_whole = !ferror(out);
	is_whole = fclose(out) == 0 && is_whole;
	out = NULL;
	if (!is_whole || !hand_over(served, body, text, size)) {
		evhttp_send_error(request, HTTP_INTERNAL, NULL);
		goto out;
	}
	text = NULL;
	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
	evhttp_add_header(headers, "Content-Security-Policy",
	                  "default-src 'none'; style-src 'unsafe-inline'; script-src "
	                  "'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'");
	give_time(request);
	evhttp_send_reply(request, HTTP_OK, "OK", body);
out:
	if (out)
		fclose(out);
	if (body)
		evbuffer_free(body);
	free(text);
}

static void refresh(struct served *served)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if ((double)now.tv_sec - served->round->at >= served->oldest ||
	    served->round->at > (double)now.tv_sec + 1)
		(void)collect(served->totals, served->round);
}

/* Those who asked longest ago and have not taken their reply go first, one for each that has to
 * come again. */
static void put_off(struct evhttp_request *request, struct served *served)
{
	connections_end_quietest(&served->connections);
	evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
}

static void handle(struct evhttp_request *request, void *arg)
{
	struct served *served = arg;
	const char *host = evhttp_find_header(evhttp_request_get_input_headers(request), "Host");
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	enum evhttp_cmd_type command = evhttp_request_get_command(request);

	if (!serve_host_is_local(host)) {
		evhttp_send_error(request, 421, "Misdirected Request");
	} else if (command != EVHTTP_REQ_GET && command != EVHTTP_REQ_HEAD) {
		evhttp_send_error(request, HTTP_BADMETHOD, NULL);
	} else if (served->unsent > UNSENT_MOST) {
		put_off(request, served);
	} else if (path && strcmp(path, "/metrics") == 0) {
		refresh(served);
		answer(request, served, "text/plain; version=0.0.4; charset=utf-8", write_metrics);
	} else if (path && (strcmp(path, "/") == 0 || !*path)) {
		refresh(served);
		answer(request, served, "text/html; charset=utf-8", write_page);
	} else if (path && strcmp(path, "/fleet") == 0) {
		answer(request, served, "text/plain; charset=utf-8", write_fleet);
	} else {
		evhttp_send_error(request, HTTP_NOTFOUND, NULL);
	}
}

bool serve_start(struct event_base *base, const char *address, int port, struct served *served)
{
	struct evhttp *http = evhttp_new(base);
	struct evhttp_bound_socket *bound;

	if (!http)
		return false;
	evhttp_set_gencb(http, handle, served);
	evhttp_set_max_headers_size(http, HEADERS_MOST);
	evhttp_set_max_body_size(http, 0);
	evhttp_set_timeout(http, TIMEOUT);
	bound = evhttp_bind_socket_with_handle(http, address, (unsigned short)port);
	if (!bound) {
		fprintf(stderr,
		        "retrybudgetd: cannot listen on %s:%d: is another one running? "
		        "(--listen ADDRESS:PORT)\n",
		        address, port);
		evhttp_free(http);
		return false;
	}
	return connections_bound(&served->connections, base, http, bound);
}

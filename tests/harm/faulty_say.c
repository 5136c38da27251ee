// SPDX-License-Identifier: MIT
#include "faulty_say.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

void say(int fd, const char *text, size_t length)
{
	if (send(fd, text, length, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		perror("faulty: send");
}

static void reply(int fd, int status, const char *extra, const char *body)
{
	char text[REQUEST];
	const int length =
	    snprintf(text, sizeof text, "HTTP/1.1 %d %s\r\n%sContent-Length: %zu\r\n\r\n%s", status,
	             status == 200 ? "OK" : "Failed", extra, strlen(body), body);
	say(fd, text, (size_t)length);
}

int whole(const struct connection *c)
{
	const char *end = memmem(c->request, (size_t)c->length, "\r\n\r\n", 4);
	if (!end)
		return 0;
	int length = (int)(end - c->request) + 4;
	for (const char *p = c->request; p && p < end;
	     p = memchr(p, '\n', (size_t)(end - p)), p += p != NULL)
		if (strncasecmp(p, "content-length:", 15) == 0)
			length += atoi(p + 15);
	return length <= c->length ? length : 0;
}

static bool over_rate(struct port *port)
{
	const int second = (int)now();
	return ++port->in_second[second < SECONDS ? second : SECONDS - 1] > phase_of(port)->number;
}

void answer(int fd)
{
	struct connection *c = connections[fd];
	const int length = whole(c);
	char path[512] = "";
	sscanf(c->request, "%*s %500s", path);
	char *head = strndup(c->request, (size_t)length);
	const bool last = strcasestr(head, "connection: close") || strstr(head, " HTTP/1.0\r");
	free(head);
	const struct phase *phase = phase_of(c->port);
	memmove(c->request, c->request + length, (size_t)(c->length - length));
	c->length -= length;
	if (strcmp(phase->what, "status") == 0)
		reply(fd, phase->number, "", "no");
	else if (strcmp(phase->what, "err") == 0 && percent() < phase->number)
		reply(fd, 500, "", "no");
	else if (strcmp(phase->what, "busy") == 0 && percent() < phase->number)
		reply(fd, 503, "", "no");
	else if (strcmp(phase->what, "broken") == 0 && strncmp(path, "/d", 2) == 0)
		reply(fd, 502, "", "no");
	else if (strcmp(phase->what, "limit") == 0 && c->port->requests == phase->number)
		reply(fd, 429, "Retry-After: 60\r\n", "no");
	else if (strcmp(phase->what, "bars") == 0 && strncmp(path, "/d", 2) == 0) {
		char wait[40];
		snprintf(wait, sizeof wait, "Retry-After: %d\r\n", phase->number);
		reply(fd, 429, wait, "no");
	} else if (strcmp(phase->what, "rate") == 0 && over_rate(c->port))
		reply(fd, 429, "Retry-After: 1\r\n", "no");
	else
		reply(fd, 200, last ? "Connection: close\r\n" : "", path);
	if (last)
		drop(fd);
}

void greet(int fd, int kind)
{
	static const char mysql[] = "\x17\0\0\0\xff\x10\x04#08004Too many clients";
	static const char postgres[] = "E\0\0\0\x1b"
				       "SFATAL\0C53300\0Mbusy\0\0\0\0";
	static const char alert[] = "\x15\x03\x03\0\x02\x02\x50";
	static const char smtp[] = "421 4.3.2 not now\r\n";
	static const char http[] = "HTTP/1.0 503 Busy\r\nContent-Length: 2\r\n\r\nno";
	const char *texts[] = { mysql, smtp, postgres, alert, http };
	const size_t lengths[] = { sizeof mysql - 1, sizeof smtp - 1, sizeof postgres - 1,
		                   sizeof alert - 1, sizeof http - 1 };
	say(fd, texts[kind - 1], lengths[kind - 1]);
}

void postgres(int fd)
{
	struct connection *c = connections[fd];
	static const char ready[] = "R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
	static const char done[] = "C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I";
	if (!c->started && c->length >= 8) {
		const bool asks_for_tls = memcmp(c->request + 4, "\x04\xd2\x16\x2f", 4) == 0 ||
		                          memcmp(c->request + 4, "\x04\xd2\x16\x30", 4) == 0;
		asks_for_tls ? say(fd, "N", 1) : say(fd, ready, sizeof ready - 1);
		c->started = !asks_for_tls;
	} else if (c->started && c->request[0] == 'Q') {
		c->port->requests++;
		say(fd, done, sizeof done - 1);
	}
	c->length = 0;
}

// A proxy (SOCKS 5) that can reach nobody: refused.
void socks(int fd)
{
	struct connection *c = connections[fd];
	const bool asks = c->length >= 10;
	c->length = 0;
	if (!asks) {
		say(fd, "\x05\0", 2);
		return;
	}
	c->port->requests++;
	say(fd, "\x05\x05\0\x01\0\0\0\0\0\0", 10);
	drop(fd);
}

void resolve(struct port *port)
{
	unsigned char packet[600];
	struct sockaddr_in from;
	ssize_t length;
	socklen_t size = sizeof from;
	while ((length = recvfrom(port->listener, packet, 512, 0, (struct sockaddr *)&from,
	                          &size)) > 16) {
		port->requests++;
		const char *name = (const char *)packet + 13;
		int end = 12;
		while (packet[end] && end < length)
			end += packet[end] + 1;
		const int type = packet[end + 2];
		const bool good = strncmp(name, "good", 4) == 0;
		length = end + 5;
		packet[2] = 0x81;
		packet[3] = (unsigned char)(0x80 | (good                          ? 0
		                                    : strncmp(name, "sf", 2) == 0 ? 2
		                                                                  : 3));
		memset(packet + 6, 0, 6);
		if (good && type == 1) {
			static const unsigned char record[] = { 0xc0, 12, 0, 1, 0,   1, 0, 0,
				                                0,    0,  0, 4, 127, 0, 0, 1 };
			memcpy(packet + length, record, sizeof record);
			length += (ssize_t)sizeof record;
			packet[7] = 1;
		}
		if (strncmp(name, "mute", 4) != 0)
			sendto(port->listener, packet, (size_t)length, 0, (struct sockaddr *)&from,
			       size);
	}
}

void line(int fd)
{
	struct connection *c = connections[fd];
	if (memcmp(c->request, "quit", 4) == 0) {
		drop(fd);
		return;
	}
	c->port->requests++;
	say(fd, c->request, (size_t)c->length);
	c->length = 0;
}

/* SPDX-License-Identifier: MIT */
/* Reading socket addresses. Nothing beyond the length the program gave is read. */
#include "dest/address.h"

#include "sys/memory.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

/* Refusing one of these breaks logins and logging, and their clients pace themselves, or do without
 * and never notice that nobody is there: libuuid asks for uuidd at every time-based UUID, and the
 * NSS modules of SSSD, nslcd and winbind for their daemons at every user's name. */
static const char *const exempt[] = {
	"/dev/log",         "/run/systemd/",        "/var/run/nscd/socket",
	"/run/nscd/socket", "/run/dbus/",           "/var/run/dbus/",
	"/run/user/",       "/tmp/dbus-",           "/run/uuidd/",
	"/var/run/uuidd/",  "/var/lib/sss/pipes/",  "/run/nslcd/",
	"/var/run/nslcd/",  "/run/samba/winbindd/", "/var/run/samba/winbindd/",
};

static bool is_exempt(const char *path, size_t len)
{
	if (len && *path == '\0') { /* abstract: D-Bus sessions use @/tmp/dbus-… */
		path++;
		len--;
	}
	for (size_t i = 0; i < sizeof(exempt) / sizeof(*exempt); i++) {
		size_t n = strlen(exempt[i]);

		if (len >= n && memcmp(path, exempt[i], n) == 0)
			return true;
	}
	return false;
}

/* Apart, so that the others need no frame. */
static __attribute__((noinline)) bool read_unix(struct address *address,
                                                const struct sockaddr *from, socklen_t len)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)from;
	size_t offset = offsetof(struct sockaddr_un, sun_path);

	if (len <= offset || len > sizeof(*un))
		return false;
	memset(address->bytes, 0, sizeof(address->bytes));
	address->port = 0;
	address->is_unix = true;
	address->path = un->sun_path;
	address->path_len = len - offset;
	if (*un->sun_path != '\0')
		address->path_len = strnlen(un->sun_path, address->path_len);
	return address->path_len > 1 && !is_exempt(address->path, address->path_len);
}

static bool read_inet(struct address *address, const struct sockaddr_in *from)
{
	const uint32_t mapped[4] = { 0, 0, htonl(0xffff), from->sin_addr.s_addr };

	memcpy(address->bytes, mapped, sizeof(mapped));
	address->port = ntohs(from->sin_port);
	return true;
}

static bool read_inet6(struct address *address, const struct sockaddr_in6 *from, socklen_t len)
{
	memcpy(address->bytes, &from->sin6_addr, 16);
	address->port = ntohs(from->sin6_port);
	if (len >= sizeof(*from) && IN6_IS_ADDR_LINKLOCAL(&from->sin6_addr))
		address->scope = from->sin6_scope_id;
	return true;
}

bool address_read(struct address *address, const struct sockaddr *from, socklen_t len)
{
	sa_family_t family;

	if (!memory_may_be_there(from) || len < sizeof(family))
		return false;
	memcpy(&family, from, sizeof(family));
	address->scope = 0;
	address->is_unix = address->is_datagram = false;
	if (family == AF_INET && len >= sizeof(struct sockaddr_in))
		return read_inet(address, (const struct sockaddr_in *)from);
	/* SIN6_LEN_RFC2133: the kernel also takes the form without a scope. */
	if (family == AF_INET6 && len >= offsetof(struct sockaddr_in6, sin6_scope_id))
		return read_inet6(address, (const struct sockaddr_in6 *)from, len);
	return family == AF_UNIX && read_unix(address, from, len);
}

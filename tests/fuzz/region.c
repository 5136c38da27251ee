// SPDX-License-Identifier: MIT
/* The region with hostile bytes: attempts come and go while any word of it becomes anything. */
#include "drive.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fd;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	drive_start();
	fd = socket(AF_INET, SOCK_STREAM, 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memset(shim_region, 0, sizeof(*shim_region));
	drive_run(data, size, fd);
	return 0;
}

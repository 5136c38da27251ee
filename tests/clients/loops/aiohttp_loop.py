# SPDX-License-Identifier: MIT
# aiohttp: an event loop with a pool of connections and lookups in threads.
import asyncio
import os
import sys

import aiohttp

how, host, port = sys.argv[1:4]
timeout = aiohttp.ClientTimeout(total=float(os.environ.get("TIMEOUT", "20")))


async def main():
    said = ""
    async with aiohttp.ClientSession(timeout=timeout) as session:
        while True:
            try:
                async with session.get(f"http://{host}:{port}/", raise_for_status=True) as reply:
                    sys.stdout.write(await reply.text())
                    return
            except (aiohttp.ClientError, asyncio.TimeoutError) as e:
                text = str(e) or "timed out"
                if text != said:
                    said = text
                    print(said, file=sys.stderr)


asyncio.run(main())

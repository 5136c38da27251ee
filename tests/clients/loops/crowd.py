# SPDX-License-Identifier: MIT
# Many first connections at once, from threads or forked processes: crowd.py threads|processes HOST
# PORT N. Prints what came of them: "N refused". As in a pool that is being filled, each stays until
# all have tried: a thread that ends at once and one that takes over from it look the same.
import os
import socket
import sys
import threading

how, host, port, count = sys.argv[1:5]
count = int(count)


def connect():
    with socket.socket() as s:
        try:
            s.connect((host, int(port)))
        except ConnectionRefusedError:
            return "refused"
        except OSError as e:
            return e.strerror
    return "connected"


results = []
if how == "threads":
    start, end = threading.Barrier(count), threading.Barrier(count)

    def work():
        start.wait()
        results.append(connect())
        end.wait()

    threads = [threading.Thread(target=work) for _ in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
else:
    start, end, answers = os.pipe(), os.pipe(), os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            os.close(start[1])
            os.close(end[1])
            os.read(start[0], 1)  # until the parent closes its end, for all at once
            os.write(answers[1], (connect() + "\n").encode())
            os.read(end[0], 1)
            os._exit(0)
    os.close(answers[1])
    os.close(start[1])
    with os.fdopen(answers[0]) as f:
        results = [f.readline().strip() for _ in range(count)]
    os.close(end[1])
print(", ".join(f"{results.count(r)} {r}" for r in sorted(set(results))))

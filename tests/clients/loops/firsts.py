# SPDX-License-Identifier: MIT
# New work all the time: firsts.py HOST PORT N [PAUSE]. One thread after the other makes its first and
# only connection, and stays: no attempt answers a failure of its own. Prints what came of each.
import socket
import sys
import threading
import time

host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
pause = float(sys.argv[4]) if len(sys.argv) > 4 else 0
done, end = threading.Semaphore(0), threading.Event()


def work():
    with socket.socket() as s:
        try:
            s.connect((host, port))
            s.sendall(b"PING\r\n")
            print("answered" if s.recv(100) else "dropped", flush=True)
        except OSError as e:
            print(e.strerror, flush=True)
    done.release()
    end.wait()


for _ in range(count):
    threading.Thread(target=work, daemon=True).start()
    done.acquire()
    time.sleep(pause)
end.set()

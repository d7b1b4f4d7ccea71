"""Starts the program of an MCP server in its container.

It shows the host what this container is, as the agent of a group does, and waits for the host's word before any code of the
server's runs. If the container has a way out, a process of ours makes it reachable for ordinary programs. Then this one becomes
the server: its standard streams are the host's.
"""

import os
import socket
import subprocess
import sys
import threading

PROBE = "/opt/crabpot/probe.py"
SOCKET = "/egress/proxy.sock"
PORT = 3128
# The host allows fewer.
MOST_CONNECTIONS = 128
PIECE = 65536


def main(command):
    report = subprocess.run([sys.executable, "-I", PROBE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    sys.stdout.buffer.write(report.stdout)
    sys.stdout.buffer.flush()
    if os.read(0, 1) != b"\n":
        return
    if os.path.exists(SOCKET):
        start_forwarder()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]} cannot be started: {error.strerror}")


def start_forwarder():
    """Resolves when it listens: the server may want something at once."""
    listener = socket.create_server(("127.0.0.1", PORT))
    if os.fork() > 0:
        listener.close()
        return
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    places = threading.Semaphore(MOST_CONNECTIONS)
    while True:
        client, _ = listener.accept()
        places.acquire()
        threading.Thread(target=forward, args=(client, places), daemon=True).start()


def forward(client, places):
    """Bytes both ways, unread; each direction ends by itself."""
    try:
        proxy = socket.socket(socket.AF_UNIX)
        with client, proxy:
            proxy.connect(SOCKET)
            back = threading.Thread(target=carry, args=(proxy, client), daemon=True)
            back.start()
            carry(client, proxy)
            back.join()
    except OSError:
        pass
    finally:
        places.release()


def carry(source, target):
    try:
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


if __name__ == "__main__":
    main(sys.argv[1:])

import type { Attack, WantedRecord } from "../suite/attack.ts";
import { pythonAttack } from "../suite/programs.ts";

/** `ask(name, bytes, …)` prints OPEN when the proxy opens a tunnel or gives no refusal. */
const asking = `
def ask(name, request, wanted=(b"400", b"403", b"405", b"429")):
    with socket.socket() as s:
        s.settimeout(120); s.connect(("127.0.0.1", 3128))
        try: s.sendall(request)
        except OSError: pass
        answer = b""
        while True:
            try: part = s.recv(65536)
            except OSError: break
            if not part: break
            answer += part
            if b" 200 " in answer[:20]: break
    status = answer[9:12]
    print("refused" if status in wanted else "OPEN", name, status.decode())
def connect_to(target): return ("CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % (target, target)).encode("latin1")
`;

function refusedBy(...rules: readonly string[]): WantedRecord {
  return {
    type: "egress",
    where: ({ data }) => data["verdict"] !== "allowed" && rules.includes(String(data["rule"])),
  };
}

export const attacks: readonly Attack[] = [
  pythonAttack({
    id: "D4",
    title: "the way out of a group that has none: proxy ports, the socket's place, a socket of one's own in it",
    expected: "nothing listens, nothing can be put there",
    quick: true,
    program: `
for port in (3128, 8080, 1080):
    def connect():
        with socket.socket() as s: s.settimeout(1); s.connect(("127.0.0.1", port))
    attempt("port-%d" % port, connect)
def through():
    with socket.socket(socket.AF_UNIX) as s: s.connect("/egress/proxy.sock")
attempt("socket", through)
attempt("place", lambda: os.makedirs("/egress"))`,
  }),
  pythonAttack({
    id: "D6",
    title: "ports that are none, spelled strangely, or others than the allowed one",
    expected: "refused by the grammar or the allowlist",
    group: "egress",
    audit: refusedBy("grammar"),
    program: `${asking}
for port in ("", ":", ":0", ":22", ":65979", ":443abc", ":0443", ":+443", ":443,80", ":%34%34%33", ":443 ", ":443\\t"): ask("port" + repr(port), connect_to("allowed.invalid" + port))`,
  }),
  pythonAttack({
    id: "D7",
    title:
      "names that look like an allowed one: suffix, prefix, subdomain, capitals, dots, user info, escapes, addresses in any spelling",
    expected: "refused by the grammar or the allowlist",
    group: "egress",
    audit: refusedBy("allowlist"),
    program: `${asking}
for name in ("evilallowed.invalid", "allowed.invalid.evil.test", "www.allowed.invalid", "ALLOWED.invalid", "allowed.invalid.", "allowed.invalid@evil.test", "evil.test#allowed.invalid", "allowed%2einvalid",
    "allowed.invalid\\0.evil.test", "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "169.254.169.254"): ask(repr(name), connect_to(name + ":443"))`,
  }),
  pythonAttack({
    id: "D8",
    title:
      "requests that two readers would read differently: absolute targets, two hosts, bodies, bare line ends, folded lines, endless headers",
    expected: "refused as malformed",
    group: "egress",
    audit: refusedBy("malformed", "method", "too-long"),
    program: `${asking}
line = b"CONNECT allowed.invalid:443 HTTP/1.1\\r\\n"
for name, request in (("get", b"GET http://allowed.invalid/ HTTP/1.1\\r\\nHost: allowed.invalid\\r\\n\\r\\n"), ("two-hosts", line + b"Host: allowed.invalid\\r\\nHost: evil.test\\r\\n\\r\\n"),
    ("other-host", line + b"Host: evil.test:443\\r\\n\\r\\n"), ("body", line + b"Content-Length: 5\\r\\n\\r\\nhello"), ("chunks", line + b"Transfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n"),
    ("line-feed", b"CONNECT allowed.invalid:443 HTTP/1.1\\n\\r\\n\\r\\n"), ("folded", line + b"X: a\\r\\n b\\r\\n\\r\\n"), ("nul", line + b"X: a\\0b\\r\\n\\r\\n"), ("version", b"CONNECT allowed.invalid:443 HTTP/2.0\\r\\n\\r\\n"),
    ("endless", line + b"X: " + b"a" * 20000), ("pipelined", line.replace(b"allowed", b"evil") + b"\\r\\n" + line + b"\\r\\n")): ask(name, request)`,
  }),
  pythonAttack({
    id: "D10",
    title: "allowed names that lead to this machine or to a cloud's metadata",
    expected: "refused for the address, or the name has none",
    group: "egress",
    audit: refusedBy("private-address", "dns"),
    program: `${asking}
ask("loopback", connect_to("localhost.localdomain:443"), (b"403", b"502")); ask("metadata", connect_to("metadata.google.internal:80"), (b"403", b"502")); ask("nobody", connect_to("allowed.invalid:443"), (b"502",))`,
  }),
  pythonAttack({
    id: "D11",
    title: "hundreds of connections that say nothing, say half, or ask as fast as they can",
    expected: "bounded, refused in bulk, and the host stays awake",
    group: "egress",
    hostStaysAwake: true,
    audit: refusedBy("requests-per-minute"),
    program: `${asking}
silent = []
for count in range(300):
    try:
        s = socket.socket(); s.settimeout(2); s.connect(("127.0.0.1", 3128)); silent.append(s)
        if count % 2: s.sendall(b"CONNECT allowed.inv")
    except OSError: break
for s in silent: s.close()
# Connections that have just been closed are counted for a moment, in which others end without an answer.
until = time.monotonic() + 120
def refused_in_bulk():
    while time.monotonic() < until:
        with socket.socket() as s:
            s.settimeout(30)
            try: s.connect(("127.0.0.1", 3128)); s.sendall(connect_to("evil.test:443")); said = s.recv(4096)
            except OSError: said = b""
        if said: return b"requests-per-minute" in said
        time.sleep(0.01)
    raise TimeoutError("no answer")
# The record is made once a minute: one that has it already is waited out.
while refused_in_bulk(): time.sleep(1); until += 1
# Until the limit of a minute is reached; a minute may end meanwhile.
for count in range(1500):
    if refused_in_bulk(): break
ask("one-more", connect_to("evil.test:443"), (b"429", b"403", b""))`,
  }),
];

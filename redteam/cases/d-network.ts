import { pythonAttack } from "../suite/programs.ts";

export const attacks = [
  pythonAttack({
    id: "D1",
    title: "TCP and UDP to the internet, the metadata service, the bridge, the host's gateway; names; IPv6; broadcast",
    expected: "no network is reachable",
    quick: true,
    program: `
for name, family, kind, address in (("tcp", 2, 1, ("1.1.1.1", 443)), ("udp", 2, 2, ("8.8.8.8", 53)), ("metadata", 2, 1, ("169.254.169.254", 80)), ("bridge", 2, 1, ("172.17.0.1", 2375)),
    ("private", 2, 1, ("10.0.0.1", 80)), ("tcp6", 10, 1, ("2606:4700:4700::1111", 443)), ("mapped", 10, 1, ("::ffff:1.1.1.1", 443)), ("multicast", 2, 2, ("224.0.0.251", 5353))):
    def connect():
        with socket.socket(family, kind) as s:
            s.settimeout(2); s.connect(address)
    attempt(name, connect)
for host in ("example.com", "host.docker.internal", "gateway.docker.internal", "metadata.google.internal"):
    attempt("resolve-" + host, lambda: socket.getaddrinfo(host, 80))
for line in open("/proc/net/dev").read().splitlines()[2:]:
    if line.split(":")[0].strip() not in ("lo", "sit0", "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6tnl0", "ip6gre0"): print("OPEN interface", line.split(":")[0])
if len(open("/proc/net/route").read().splitlines()) > 1: print("OPEN route")`,
  }),
  pythonAttack({
    id: "D3",
    title: "abstract Unix sockets of the host, VSOCK to the hypervisor, the host's own port",
    expected: "another network namespace: nothing is seen",
    quick: true,
    program: `
names = [l.split()[-1] for l in open("/proc/net/unix").read().splitlines()[1:] if len(l.split()) > 7]
for name in names:
    if name.startswith("@"): print("OPEN abstract", name)
for abstract in ("/containerd-shim/x", "/tmp/.X11-unix/X0", "/com/ubuntu/upstart"):
    def connect():
        with socket.socket(socket.AF_UNIX) as s: s.connect("\\0" + abstract)
    attempt(abstract, connect)
attempt("vsock", lambda: socket.socket(40, 1).connect((2, 1024)))
for port in (22, 80, 2375, 7788, 8080):
    def connect():
        with socket.socket() as s: s.settimeout(1); s.connect(("127.0.0.1", port))
    attempt("loopback-%d" % port, connect)`,
  }),
];

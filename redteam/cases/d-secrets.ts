import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Attack, Evidence, WantedRecord } from "../suite/attack.ts";
import { allRefused, pythonAttack } from "../suite/programs.ts";
import { echoNames, formNames, quickName, slowNames } from "../suite/stage-internet.ts";
import type { Stage } from "../suite/stage.ts";
import { isSoon } from "../suite/waiting.ts";

/** `get(name, path, …)` asks through the proxy and gives all that came; `seen` is what had come at the first pause. */
const asking = `
import ssl
from concurrent.futures import ThreadPoolExecutor
context = ssl.create_default_context(cafile="/egress/certificates.pem")
port = int(open("/workspace/group/port").read())
def tunnel(name):
    s = socket.create_connection(("127.0.0.1", 3128), 120)
    target = "%s:%d" % (name, port)
    s.sendall(("CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % (target, target)).encode())
    head = b""
    while b"\\r\\n\\r\\n" not in head:
        part = s.recv(4096)
        if not part: break
        head += part
    return s, head
# A pause begins when something has come: whoever reads on a busy machine is late, and so is what it reads.
def speak(name, request, pause=None):
    s, head = tunnel(name)
    if b" 200 " not in head[:20]: return head, None
    with context.wrap_socket(s, server_hostname=name) as t:
        t.sendall(request)
        answer, shape, seen = b"", [], None
        t.settimeout(120)
        while True:
            try: part = t.recv(65536)
            except (TimeoutError, ssl.SSLError):
                if seen is not None or pause is None: break
                seen = len(answer); t.settimeout(120); continue
            if not part: break
            answer += part; shape.append(len(part))
            if pause is not None and seen is None: t.settimeout(pause)
        return answer, (seen, tuple(shape))
def get(name, path, more="", method="GET", pause=None):
    return speak(name, ("%s %s HTTP/1.1\\r\\nHost: %s\\r\\n%sConnection: close\\r\\n\\r\\n" % (method, path, name, more)).encode(), pause)
`;

type EchoAttack = Pick<Attack, "id" | "title" | "expected" | "audit"> & {
  readonly program: string;
  readonly judge?: (output: string, stage: Stage) => Evidence;
};

/** An attack from the group that has secrets for hosts which say what they were sent. */
function echoAttack({ program, ...attack }: EchoAttack): Attack {
  return pythonAttack({ ...attack, group: "echo", program: `${asking}${program}` });
}

function record(verdict: string, rule: string, host?: string): WantedRecord {
  return {
    type: "egress",
    where: ({ data }) =>
      data["verdict"] === verdict && data["rule"] === rule && (host === undefined || data["host"] === host),
  };
}

/**
 * Contained when no part of the secret is left, whatever stands between its letters, and each answer was masked or
 * refused.
 */
function noPartOf(output: string, { canaries }: Stage): Evidence {
  const evidence = allRefused(output);
  if (!evidence.holds) return evidence;
  const letters = output.replaceAll(/[^A-Za-z0-9]/g, "").toLowerCase();
  const hex = Buffer.from(canaries.injected).toString("hex");
  const reversed = Array.from(canaries.injected).toReversed().join("");
  const parts = [canaries.injected, hex, reversed].map((form) => form.slice(8, 18));
  const leaked = parts.filter((part) => letters.includes(part));
  const asked = output.match(/^refused /gm)?.length ?? 0;
  return { seen: leaked.length > 0 ? "a part of the secret" : `${asked} ways, masked`, holds: leaked.length === 0 };
}

const slowLookups = echoAttack({
  id: "D26",
  title: "",
  expected: "",
  audit: record("failed", "dns"),
  program: `
with ThreadPoolExecutor(40) as pool: heads = list(pool.map(lambda n: tunnel("slow%d.redteam.test" % n)[1], range(${slowNames.length})))
print("refused" if all(b" 502 " in head or b" 429 " in head for head in heads) else "OPEN", heads[0])`,
});

const quickLookup = pythonAttack({
  id: "D26",
  title: "",
  expected: "",
  group: "neighbour",
  program: `${asking}
import time
os.chdir("/workspace/group"); write("ready")
while not os.path.exists("go"): time.sleep(0.01)
os.remove("ready"); os.remove("go")
answer, shape = get("${quickName}", "/")
print("refused nothing" if answer.endswith(b"with a token") else "OPEN " + repr(answer))`,
});

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

export const attacks: readonly Attack[] = [
  ...(["say", "known"] as const).map((route, index) =>
    echoAttack({
      id: `D${19 + index}`,
      title: `an injected secret guessed character by character, by what a host's answer ${route === "say" ? "in chunks" : "of a known length"} shows at a pause`,
      expected: "every guess looks the same",
      audit: record("allowed", "secret GUESS"),
      program: `
def shape(letter): return get("${echoNames.guess}", "/${route}/%d/%s" % (2000 * pause, letter), pause=pause)[1][0]
def shapes(letters):
    with ThreadPoolExecutor(12) as pool: return dict(zip(letters, pool.map(shape, letters)))
pause = 0.4
found = shapes("${letters}")
usual = max(set(found.values()), key=list(found.values()).count)
# A busy machine may take longer than a pause; what a guess gives away it gives away each time.
for pause in (1, 2, 4, 8): found.update(shapes([letter for letter in found if found[letter] != usual]))
seen = set(found.values())
print("refused every guess gives", seen) if len(seen) == 1 and None not in seen else print("OPEN", found)`,
    }),
  ),
  echoAttack({
    id: "D21",
    title: `a host that sends the secret back: ${formNames.join(", ")}`,
    expected: "asterisks in its place, in bodies, headers and the status line",
    audit: record("masked", "secret-in-answer"),
    judge: noPartOf,
    program: `
ways = ${JSON.stringify(formNames)}
hosts = ${JSON.stringify(echoNames.forms)}
for index, way in enumerate(ways):
    answer, shape = get(hosts[index // 3], "/token/" + way)
    print("refused" if b"********" in answer else "OPEN", way, repr(answer))`,
  }),
  echoAttack({
    id: "D22",
    title: "asking on after answers that were masked, one after the other and at once",
    expected: "after three the host is blocked for the group",
    audit: record("barred", "reflects", echoNames.three),
    judge: noPartOf,
    program: `
with ThreadPoolExecutor(8) as pool: answers = list(pool.map(lambda n: get("${echoNames.three}", "/token/upper")[0], range(16)))
masked = sum(b"********" in answer for answer in answers)
print("refused all but", masked) if masked == 3 else print("OPEN", masked, answers)
head = tunnel("${echoNames.three}")[1]
print("refused" if b" 403 " in head and b"reflects" in head else "OPEN", head)`,
  }),
  echoAttack({
    id: "D23",
    title: "a secret bound to GET and /v1/*: other methods and paths, traversal in any spelling, headers that override",
    expected: "such a request goes without it",
    audit: record("allowed", "no secret", echoNames.bound),
    program: String.raw`
for path in ("/v2/x", "/v1", "/V1/x", "/v1/../admin", "/v1/./x", "/v1//x", "//v1/x", "/v1/%2e%2e/admin", "/v1/.%2E/admin", "/v1/%252e%252e/admin", "/v1/..%2fadmin", "/v1/..%5cadmin", "/v1/..\\admin", "/v1/..;/admin", "/v1/x;y",
    "/v1/%c0%ae%c0%ae/admin", "/v1/%ef%bc%8e%ef%bc%8e/admin", "/v1/%00", "/v1/%zz", "/v1/x#y"):
    answer, shape = get("${echoNames.bound}", path)
    print("OPEN" if b"with " in answer or not answer else "refused", path, answer[-20:])
for method, more in (("POST", "Content-Length: 0\r\n"), ("HEAD", ""), ("DELETE", ""), ("GET", "X-HTTP-Method-Override: DELETE\r\n"), ("GET", "X_Original_URL: /admin\r\n"), ("GET", "X-Rewrite-Url: /admin\r\n")):
    answer, shape = get("${echoNames.bound}", "/v1/x", more, method)
    print("OPEN" if b"with " in answer or not answer else "refused", method, more.strip(), answer[-20:])
answer, shape = get("${echoNames.bound}", "/v1/x")
print("refused nothing" if answer.endswith(b"with a token") else "OPEN " + repr(answer))`,
  }),
  echoAttack({
    id: "D24",
    title:
      "requests for a host with a secret that two readers would read differently: hosts, lengths, codings, folded lines",
    expected: "refused, or the connection ends",
    audit: record("refused", "host", echoNames.strict),
    program: `
host = b"Host: ${echoNames.strict}\\r\\n"
for name, lines in (("two hosts", host + host), ("a foreign second host", host + b"host: evil.test\\r\\n"), ("a foreign first host", b"Host: evil.test\\r\\n" + host), ("capitals", b"Host: STRICT.localhost\\r\\n"), ("a dot", b"Host: ${echoNames.strict}.\\r\\n"),
    ("no host", b""), ("two lengths", host + b"Content-Length: 0\\r\\nContent-Length: 0\\r\\n"), ("length and coding", host + b"Content-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n"), ("two codings", host + b"Transfer-Encoding: gzip, chunked\\r\\n"),
    ("folded", host + b"X: a\\r\\n b\\r\\n"), ("blank before the colon", b"Host : ${echoNames.strict}\\r\\n"), ("bare line feeds", host.replace(b"\\r", b""))):
    answer, shape = speak("${echoNames.strict}", b"GET / HTTP/1.1\\r\\n" + lines + b"Connection: close\\r\\n\\r\\n")
    print("OPEN" if b" 200 " in answer[:20] else "refused", name, answer[:40])`,
  }),
  echoAttack({
    id: "D25",
    title: "a host that is known to send back what it is sent is asked for the token",
    expected: "it never gets one; what the agent says there is the agent's own",
    audit: { type: "egress", where: ({ data }) => data["host"] === echoNames.mirror && data["verdict"] === "closed" },
    program: `
answer, shape = get("${echoNames.mirror}", "/")
print("refused" if answer.endswith(b"without") else "OPEN", answer)`,
  }),
  {
    id: "D26",
    title: "forty names whose server never answers, looked up at once, beside another group's name",
    from: "container",
    expected: "the other group is answered meanwhile; the forty fail on their own",
    hostStaysAwake: true,
    audit: record("failed", "dns"),
    attempt: async (stage) => {
      // It has begun already: on a busy machine its own start could take longer than the lookups that it is beside.
      const other = quickLookup.attempt(stage).then((evidence) => ({ evidence, isOther: true }));
      const folder = stage.groupFolder("neighbour");
      await isSoon(() => existsSync(join(folder, "ready")));
      const attacking = slowLookups.attempt(stage).then((evidence) => ({ evidence, isOther: false }));
      await stage.internet.names.untilAsked((name) => name.startsWith("slow"));
      await writeFile(join(folder, "go"), "", { mode: 0o644 });
      const first = await Promise.race([attacking, other]);
      const ends = await Promise.all([attacking, other]);
      if (!first.isOther) return { seen: "the other group was answered only afterwards", holds: false };
      return (ends.find(({ evidence }) => !evidence.holds) ?? ends[0]).evidence;
    },
  },
];

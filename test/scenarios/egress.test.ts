import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { runsInOrder } from "../support/model-host.ts";
import { programPath } from "../support/programs.ts";
import { shareModelHost, type TestGroup } from "../support/shared-host.ts";
import { onDisk, temporaryFolder } from "../support/temporary-folder.ts";
import { testAuthority, tlsServer } from "../support/tls-authority.ts";
import { jsonLines } from "../support/crabpot.ts";
import { staticFiles } from "../support/static-files.ts";

const authority = await testAuthority();
const files = await temporaryFolder(onDisk);
const ca = join(files.path, "ca.pem");
await writeFile(ca, authority.certificate);
/** Tells the programs in the container to trust the test's servers, as a user would for a private registry. */
const trust = ["SSL_CERT_FILE", "GIT_SSL_CAINFO", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "npm_config_cafile"]
  .map((name) => `export ${name}=/workspace/group/ca.pem`)
  .join("; ");

/** Data of a group's audit records of a type. */
async function audit({ host, name }: TestGroup): Promise<(type: string) => Record<string, unknown>[]> {
  const { stdout } = await host.cli("audit", "export", "--group", name, "--json");
  const records = jsonLines(stdout);
  return (type) =>
    records.filter((record) => record["type"] === type).map(({ data }) => data as Record<string, unknown>);
}

async function placeCertificate({ host, name }: TestGroup): Promise<void> {
  await writeFile(join(host.home, "groups", name, "ca.pem"), authority.certificate);
}

/** A tar archive of a package folder, with a name at its front, as registries have it. */
async function npmPackage(folder: string): Promise<Buffer> {
  await mkdir(join(folder, "package"), { recursive: true });
  await writeFile(
    join(folder, "package/package.json"),
    JSON.stringify({ name: "tiny", version: "1.0.0", main: "m.js" }),
  );
  await writeFile(join(folder, "package/m.js"), "module.exports = 'tiny from the registry';\n");
  execFileSync("tar", ["-czf", "tiny.tgz", "package"], { cwd: folder });
  return readFile(join(folder, "tiny.tgz"));
}

/** A source package that pip builds with nothing but what it has. */
async function wheel(folder: string): Promise<void> {
  const script = [
    "import zipfile",
    "w = zipfile.ZipFile('tinypy-1.0-py3-none-any.whl', 'w')",
    "w.writestr('tinypy.py', \"said = 'tinypy from the index'\\n\")",
    "w.writestr('tinypy-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tinypy\\nVersion: 1.0\\n')",
    "w.writestr('tinypy-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')",
    "w.writestr('tinypy-1.0.dist-info/RECORD', '')",
    "w.close()",
  ].join("\n");
  execFileSync("python3", ["-c", script], { cwd: folder });
}

/** Stands for a git host, an index of pip's and a registry of npm's at once. */
async function registry(folder: string): Promise<(request: IncomingMessage, response: ServerResponse) => void> {
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "init.defaultBranch=main"];
    execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
  };
  await mkdir(join(folder, "source"));
  await writeFile(join(folder, "source/README"), "cloned\n");
  git("init", "source");
  git("-C", "source", "add", ".");
  git("-C", "source", "commit", "-m", "first");
  git("clone", "--bare", "source", "repo.git");
  git("-C", "repo.git", "update-server-info");
  await wheel(folder);
  await mkdir(join(folder, "simple/tinypy"), { recursive: true });
  await writeFile(
    join(folder, "simple/tinypy/index.html"),
    '<a href="/tinypy-1.0-py3-none-any.whl">tinypy-1.0-py3-none-any.whl</a>',
  );
  const archive = await npmPackage(folder);
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  return staticFiles(folder, (request) => {
    if (request.url !== "/tiny") return undefined;
    const dist = { tarball: `https://${request.headers.host ?? ""}/tiny.tgz`, integrity };
    const version = { name: "tiny", version: "1.0.0", main: "m.js", dist };
    return JSON.stringify({ name: "tiny", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } });
  });
}

const token = "tok-canary-5f0e1d2c3b4a";
const theirs = "their-canary-0123456789";
/** Answer of `api.test`, set by each test. */
const api: { answer: RequestListener } = { answer: (_request, response) => response.end() };
const registryServer = await tlsServer(authority, "registry.test", await registry(files.path));
const apiServer = await tlsServer(authority, "api.test", (request, response) => api.answer(request, response));
const registryAddress = `registry.test:${registryServer.port}`;
const apiAddress = `api.test:${apiServer.port}`;
const [toRegistry, toApi] = [{ allow: [registryAddress] }, { allow: [apiAddress] }];
const secretOf = (value: string, more = {}) => ({ API_TOKEN: { value, hosts: [apiAddress], ...more } });

afterAll(async () => {
  for (const owned of [registryServer, apiServer, files]) await owned[Symbol.asyncDispose]();
});

const hosts = shareModelHost({
  groups: {
    reaching: { network: toRegistry },
    kept: { network: toRegistry },
    trusted: { network: toApi, secrets: secretOf("${API_TOKEN}") },
    answered: { network: toApi, secrets: secretOf("tok-canary-6a7b8c9d0e1f", { paths: ["/v1/*"] }) },
    office: { network: toApi, secrets: secretOf(theirs) },
    home: { main: true },
  },
  program: programPath("egress-host"),
  variables: { TEST_UPSTREAM_CA: ca, API_TOKEN: token },
});

test("curl, git, pip, npm and node reach an allowed host, and nothing else", async () => {
  const target = registryAddress;
  const group = hosts.group(
    "reaching",
    runsInOrder(
      `${trust}; curl -sS https://${target}/source/README`,
      `git clone -q https://${target}/repo.git && cat repo/README && echo git-worked`,
      `pip3 install -q --index-url https://${target}/simple tinypy 2>&1; python3 -c 'import tinypy; print(tinypy.said)'`,
      `mkdir -p n && cd n && npm init -y >/dev/null && npm install --registry https://${target}/ tiny 2>&1 | tail -3; node -p 'require("tiny")'; cd ..`,
      `node -e 'fetch("https://${target}/source/README").then((r) => r.text()).then((t) => console.log("fetch", t))'`,
      `curl -sv https://other.test/ 2>&1 | grep -i 'X-Crabpot-Rule\\|403'; curl -sS http://${target}/ 2>&1`,
      "ip addr 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1; ls -l /egress; touch /egress/x 2>&1",
    ),
  );
  await placeCertificate(group);

  const { text } = await group.ask("@crab go");

  expect(text).toContain("git-worked");
  expect(text).toContain("tinypy from the index");
  expect(text).toContain("tiny from the registry");
  expect(text).toContain("fetch cloned");
  expect(text).toMatch(/X-Crabpot-Rule: allowlist/i);
  expect(text).toContain("use https://");
  expect(text).toContain("Read-only file system");
  expect(text).not.toMatch(/eth\d/);
  const records = (await audit(group))("egress");
  expect(records).toContainEqual(
    expect.objectContaining({ verdict: "refused", rule: "allowlist", host: "other.test", port: 443 }),
  );
  expect(records.filter((record) => record["verdict"] === "allowed").length).toBeGreaterThan(4);
});

test("a token is used by the agent's requests and is nowhere in its container; one that comes back is masked in chats", async () => {
  const seen: (string | undefined)[] = [];
  api.answer = (request, response) => {
    seen.push(request.headers.authorization);
    response.end(`you sent ${request.headers.authorization ?? ""}`);
  };
  const target = apiAddress;
  const value = token;
  const group = hosts.group("trusted", (request) =>
    request.messages.some((message) => message.role === "tool")
      ? { text: `${request.messages.findLast((message) => message.role === "tool")?.text ?? ""} and ${value}` }
      : {
          toolCalls: [
            {
              name: "shell",
              input: {
                command: `curl -sS https://${target}/; grep -rIl canary-5f0e / --exclude-dir=proc --exclude-dir=sys 2>/dev/null; env | grep -c canary-5f0e`,
              },
            },
          ],
        },
  );

  const { text } = await group.ask("@crab go");

  expect(seen).toEqual([`Bearer ${value}`]);
  expect(text).toContain(`you sent Bearer ${"*".repeat(value.length)}`);
  expect(text).toMatch(/\*0\n/);
  expect(text).toContain("and [redacted]");
  expect((await audit(group))("redaction")).toHaveLength(1);
});

test("after a restart of the host the container that was taken over still gets out", async () => {
  const command = `${trust}; curl -sS https://${registryAddress}/source/README`;
  const group = hosts.group("kept", (request) =>
    request.messages.at(-1)?.role === "tool"
      ? { text: request.messages.at(-1)?.text ?? "" }
      : { toolCalls: [{ name: "shell", input: { command } }] },
  );
  const { host } = group;
  await placeCertificate(group);

  const before = await group.ask("@crab go");
  const containers = await group.containers();
  await host.end("SIGKILL");
  await host.boot();
  const after = await group.ask("@crab go");

  expect(before.text).toContain("cloned");
  expect(after.text).toContain("cloned");
  expect(await group.containers()).toEqual(containers);
});

test("the operator hears, in the main group, of a host that keeps sending a token back and of a secret that was guessed", async () => {
  api.answer = (request, response) =>
    response.end(`${request.url ?? ""} ${request.headers.authorization?.toUpperCase() ?? "without"}\n`);
  const target = apiAddress;
  const urls = ["v2", "v1/../x", "v1/a", "v1/b", "v1/c", "v1/d"].map((path) => `https://${target}/${path}`);
  const command = urls.map((url) => `curl -sS --path-as-is ${url} 2>&1`).join("; ");
  const group = hosts.group("answered", (request) =>
    request.messages.at(-1)?.role === "tool"
      ? { text: `${request.messages.at(-1)?.text ?? ""} is it ${theirs}?` }
      : { toolCalls: [{ name: "shell", input: { command } }] },
  );

  const { text } = await group.ask("@crab go");

  expect(text).toMatch(/\/v2 without\n\/v1\/\.\.\/x without\n/);
  expect(text.match(/BEARER \*{23}/g)).toHaveLength(3);
  expect(text).toContain("403");
  expect(text).toContain(`is it ${theirs}?`);
  const home = hosts.group("home", () => ({ text: "nothing" }));
  const told = async (): Promise<string[]> => (await home.replies()).map((reply) => reply.text);
  await expect
    .poll(told)
    .toEqual([
      expect.stringContaining(`${target} has sent back a secret of group answered`),
      expect.stringContaining("groups.office.secrets.API_TOKEN"),
    ]);
  const records = await audit(group);
  const egress = records("egress").map(({ verdict, rule }) => `${String(verdict)} ${String(rule)}`);
  expect(egress.filter((line) => ["barred reflects", "allowed no secret"].includes(line))).toEqual([
    "allowed no secret",
    "allowed no secret",
    "barred reflects",
  ]);
  expect(records("redaction")).toEqual([{ count: 1, shown: true, found: ["groups.office.secrets.API_TOKEN"] }]);
  expect(group.host.output.join("")).not.toMatch(/canary/);
});

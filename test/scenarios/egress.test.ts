import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { TestHost } from "../support/host.ts";
import { runsInOrder, startModelHost } from "../support/model-host.ts";
import { programPath } from "../support/programs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testAuthority, tlsServer } from "../support/tls-authority.ts";
import { jsonLines } from "../support/crabpot.ts";
import { staticFiles } from "../support/static-files.ts";

const program = programPath("egress-host");
const authority = await testAuthority();
/** Tells the programs in the container to trust the test's servers, as a user would for a private registry. */
const trust = ["SSL_CERT_FILE", "GIT_SSL_CAINFO", "PIP_CERT", "NODE_EXTRA_CA_CERTS", "npm_config_cafile"]
  .map((name) => `export ${name}=/workspace/group/ca.pem`)
  .join("; ");

async function audit(host: TestHost, type: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await host.cli("audit", "export", "--json");
  const records = jsonLines(stdout).filter((record) => record["type"] === type);
  return records.map((record) => record["data"] as Record<string, unknown>);
}

async function placeCertificate(host: TestHost): Promise<void> {
  await writeFile(join(host.home, "groups/family/ca.pem"), authority.certificate);
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

test("curl, git, pip, npm and node reach an allowed host, and nothing else", async () => {
  await using folder = await temporaryFolder();
  await using server = await tlsServer(authority, "registry.test", await registry(folder.path));
  const target = `registry.test:${server.port}`;
  await using running = await startModelHost(
    runsInOrder(
      `${trust}; curl -sS https://${target}/source/README`,
      `git clone -q https://${target}/repo.git && cat repo/README && echo git-worked`,
      `pip3 install -q --index-url https://${target}/simple tinypy 2>&1; python3 -c 'import tinypy; print(tinypy.said)'`,
      `mkdir -p n && cd n && npm init -y >/dev/null && npm install --registry https://${target}/ tiny 2>&1 | tail -3; node -p 'require("tiny")'; cd ..`,
      `node -e 'fetch("https://${target}/source/README").then((r) => r.text()).then((t) => console.log("fetch", t))'`,
      `curl -sv https://other.test/ 2>&1 | grep -i 'X-Crabpot-Rule\\|403'; curl -sS http://${target}/ 2>&1`,
      "ip addr 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1; ls -l /egress; touch /egress/x 2>&1",
    ),
    { groups: { family: { network: { allow: [target] } } }, program },
  );
  await placeCertificate(running.host);

  const { text } = await running.host.ask("family", "@crab go");

  expect(text).toContain("git-worked");
  expect(text).toContain("tinypy from the index");
  expect(text).toContain("tiny from the registry");
  expect(text).toContain("fetch cloned");
  expect(text).toMatch(/X-Crabpot-Rule: allowlist/i);
  expect(text).toContain("use https://");
  expect(text).toContain("Read-only file system");
  expect(text).not.toMatch(/eth\d/);
  const records = await audit(running.host, "egress");
  expect(records).toContainEqual(
    expect.objectContaining({ verdict: "refused", rule: "allowlist", host: "other.test", port: 443 }),
  );
  expect(records.filter((record) => record["verdict"] === "allowed").length).toBeGreaterThan(4);
});

test("a token is used by the agent's requests and is nowhere in its container; one that comes back is masked in chats", async () => {
  const value = "tok-canary-5f0e1d2c3b4a";
  const seen: (string | undefined)[] = [];
  await using folder = await temporaryFolder();
  const ca = join(folder.path, "ca.pem");
  await writeFile(ca, authority.certificate);
  await using server = await tlsServer(authority, "api.test", (request, response) => {
    seen.push(request.headers.authorization);
    response.end(`you sent ${request.headers.authorization ?? ""}`);
  });
  const target = `api.test:${server.port}`;
  const family = {
    network: { allow: [target] },
    secrets: { API_TOKEN: { value: "${API_TOKEN}", hosts: [target] } },
  };
  await using running = await startModelHost(
    (request) =>
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
    { groups: { family }, program, variables: { TEST_UPSTREAM_CA: ca, API_TOKEN: value } },
  );

  const { text } = await running.host.ask("family", "@crab go");

  expect(seen).toEqual([`Bearer ${value}`]);
  expect(text).toContain(`you sent Bearer ${"*".repeat(value.length)}`);
  expect(text).toMatch(/\*0\n/);
  expect(text).toContain("and [redacted]");
  expect(await audit(running.host, "redaction")).toHaveLength(1);
});

test("after a restart of the host the container that was taken over still gets out", async () => {
  await using server = await tlsServer(authority, "registry.test", (_request, response) => response.end("reached"));
  const target = `registry.test:${server.port}`;
  const command = `${trust}; curl -sS https://${target}/`;
  await using running = await startModelHost(
    (request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: request.messages.at(-1)?.text ?? "" }
        : { toolCalls: [{ name: "shell", input: { command } }] },
    { groups: { family: { network: { allow: [target] } } }, program },
  );
  const { host } = running;
  await placeCertificate(host);

  const before = await host.ask("family", "@crab go");
  const containers = await host.containers();
  await host.end("SIGKILL");
  await host.boot();
  const after = await host.ask("family", "@crab go");

  expect(before.text).toContain("reached");
  expect(after.text).toContain("reached");
  expect(await host.containers()).toEqual(containers);
});

test("the operator hears, in the main group, of a host that keeps sending a token back and of a secret that was guessed", async () => {
  const value = "tok-canary-6a7b8c9d0e1f";
  const theirs = "their-canary-0123456789";
  await using folder = await temporaryFolder();
  const ca = join(folder.path, "ca.pem");
  await writeFile(ca, authority.certificate);
  await using server = await tlsServer(authority, "api.test", (request, response) =>
    response.end(`${request.url ?? ""} ${request.headers.authorization?.toUpperCase() ?? "without"}\n`),
  );
  const target = `api.test:${server.port}`;
  const network = { allow: [target] };
  const family = { network, secrets: { API_TOKEN: { value, hosts: [target], paths: ["/v1/*"] } } };
  const office = { network, secrets: { API_TOKEN: { value: theirs, hosts: [target] } } };
  const urls = ["v2", "v1/../x", "v1/a", "v1/b", "v1/c", "v1/d"].map((path) => `https://${target}/${path}`);
  const command = urls.map((url) => `curl -sS --path-as-is ${url} 2>&1`).join("; ");
  await using running = await startModelHost(
    (request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: `${request.messages.at(-1)?.text ?? ""} is it ${theirs}?` }
        : { toolCalls: [{ name: "shell", input: { command } }] },
    { groups: { family, office, home: { main: true } }, program, variables: { TEST_UPSTREAM_CA: ca } },
  );
  const { host } = running;

  const { text } = await host.ask("family", "@crab go");

  expect(text).toMatch(/\/v2 without\n\/v1\/\.\.\/x without\n/);
  expect(text.match(/BEARER \*{23}/g)).toHaveLength(3);
  expect(text).toContain("403");
  expect(text).toContain(`is it ${theirs}?`);
  const told = async (): Promise<string[]> =>
    (await host.replies()).filter(({ group }) => group === "home").map((reply) => reply.text);
  await expect
    .poll(told)
    .toEqual([
      expect.stringContaining(`${target} has sent back a secret of group family`),
      expect.stringContaining("groups.office.secrets.API_TOKEN"),
    ]);
  const egress = (await audit(host, "egress")).map(({ verdict, rule }) => `${String(verdict)} ${String(rule)}`);
  expect(egress.filter((line) => ["barred reflects", "allowed no secret"].includes(line))).toEqual([
    "allowed no secret",
    "allowed no secret",
    "barred reflects",
  ]);
  expect(await audit(host, "redaction")).toEqual([
    { count: 1, shown: true, found: ["groups.office.secrets.API_TOKEN"] },
  ]);
  expect(host.output.join("")).not.toMatch(/canary/);
});

import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import type { EngineAddress } from "../../../../../src/sandbox/engine/docker/address.ts";
import { askVersion } from "../../../../../src/sandbox/engine/docker/ask-version.ts";
import { locateEngine } from "../../../../../src/sandbox/engine/docker/locate.ts";
import { pretendEngine } from "../../../../support/pretend-engine.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

afterEach(() => vi.unstubAllEnvs());

/** The machine that runs this test may have its own engines; here only those below the folder exist. */
function pingBelow(folder: string): (address: EngineAddress) => Promise<void> {
  return async (address) => {
    if (address.url.startsWith("unix:") && !address.url.includes(folder)) throw new Error(`ENOENT ${address.url}`);
    await askVersion(address);
  };
}

async function writeContext(configFolder: string, name: string, host: string, options = {}): Promise<void> {
  const folder = join(configFolder, "contexts", "meta", createHash("sha256").update(name).digest("hex"));
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "meta.json"),
    JSON.stringify({ Name: name, Endpoints: { docker: { Host: host, ...options } } }),
  );
}

test("without any setting, the first usual socket that answers is used, and a dead one before it is passed over", async () => {
  await using home = await temporaryFolder();
  const runtimeFolder = join(home.path, "run");
  await mkdir(runtimeFolder);
  await writeFile(join(runtimeFolder, "docker.sock"), "not a socket");
  await using desktop = await pretendEngine(join(home.path, ".docker/run/docker.sock"));
  await using podman = await pretendEngine(join(runtimeFolder, "podman/podman.sock"));

  const env = { XDG_RUNTIME_DIR: runtimeFolder };
  const found = await locateEngine({ env, homeFolder: home.path }, pingBelow(home.path));

  expect(found.url).not.toBe(podman.url);
  expect(found).toEqual({ url: desktop.url, namedBy: undefined });
});

test("Podman's socket is used where Docker has none", async () => {
  await using home = await temporaryFolder();
  const env = { XDG_RUNTIME_DIR: join(home.path, "run") };
  await using podman = await pretendEngine(join(home.path, "run/podman/podman.sock"));

  const found = await locateEngine({ env, homeFolder: home.path }, pingBelow(home.path));

  expect(found.url).toBe(podman.url);
});

test("when nothing answers, the error tells every place that was tried and that set-up can help", async () => {
  await using home = await temporaryFolder();

  const search = locateEngine({ env: {}, homeFolder: home.path }, pingBelow(home.path));

  await expect(search).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringMatching(/docker\.sock \(not there\).*\.docker\/run\/docker\.sock.*podman\.sock/),
    fix: "npm run setup",
  });
});

test("an engine named by DOCKER_HOST that does not answer is an error, although another one would", async () => {
  await using home = await temporaryFolder();
  await using other = await pretendEngine(join(home.path, ".docker/run/docker.sock"));
  const env = { DOCKER_HOST: `unix://${home.path}/gone.sock` };

  await expect(pingBelow(home.path)({ url: other.url, namedBy: undefined })).resolves.toBeUndefined();
  const search = locateEngine({ env, homeFolder: home.path }, pingBelow(home.path));

  await expect(search).rejects.toMatchObject({
    code: "engine_unavailable",
    message: expect.stringMatching(/named by DOCKER_HOST does not answer.*gone\.sock \(not there\)/),
    fix: "Start it, or name another one by DOCKER_HOST.",
  });
});

test("DOCKER_HOST wins over DOCKER_CONTEXT", async () => {
  await using home = await temporaryFolder();
  await using engine = await pretendEngine();
  const env = { DOCKER_HOST: engine.url, DOCKER_CONTEXT: "unknown" };

  const found = await locateEngine({ env, homeFolder: home.path }, askVersion);

  expect(found).toEqual({ url: engine.url, namedBy: "DOCKER_HOST" });
});

const elsewhere = [
  "tcp://localhost:2375",
  "tcp://docker.example.org:2376",
  "tcp://[::1]:2375",
  "ssh://ann@box",
  "npipe:////./pipe/docker_engine",
  "/var/run/docker.sock",
];

test.each(elsewhere)("an engine that is not a socket of this machine is refused, with what to do: %s", async (url) => {
  const env = { DOCKER_HOST: url, DOCKER_TLS_VERIFY: "1" };

  const search = locateEngine({ env, homeFolder: "/nowhere" }, askVersion);

  await expect(search).rejects.toMatchObject({
    code: "setup_required",
    message: `DOCKER_HOST says "${url}", but crabpot only uses an engine of this machine, by its unix socket.`,
    fix: "unset DOCKER_HOST, or set DOCKER_HOST=unix:///var/run/docker.sock",
  });
});

test.each(elsewhere.slice(0, 4))("so is that of a Docker context, however it is chosen: %s", async (url) => {
  await using home = await temporaryFolder();
  const configFolder = join(home.path, ".docker");
  await writeContext(configFolder, "far", url, { SkipTLSVerify: false });
  await writeFile(join(configFolder, "config.json"), JSON.stringify({ currentContext: "far" }));
  const said = new RegExp(`the Docker context "far" .*says "${RegExp.escape(url)}", but crabpot only uses`);

  const current = locateEngine({ env: {}, homeFolder: home.path }, askVersion);
  await expect(current).rejects.toMatchObject({
    code: "setup_required",
    message: expect.stringMatching(said),
    fix: "docker context use default, or set DOCKER_HOST=unix:///var/run/docker.sock",
  });
  const named = locateEngine({ env: { DOCKER_CONTEXT: "far" }, homeFolder: home.path }, askVersion);

  await expect(named).rejects.toMatchObject({
    code: "setup_required",
    message: expect.stringMatching(said),
    fix: "unset DOCKER_CONTEXT, or set DOCKER_HOST=unix:///var/run/docker.sock",
  });
});

test("a password in an address is not repeated", async () => {
  const env = { DOCKER_HOST: "ssh://ann:hunter2@box" };

  const search = locateEngine({ env, homeFolder: "/nowhere" }, askVersion);

  await expect(search).rejects.toThrow(/DOCKER_HOST says "ssh:\/\/ann:\*\*\*@box"/);
});

test("settings of Docker's own client for other ways to an engine are nothing to a socket", async () => {
  await using home = await temporaryFolder();
  await using engine = await pretendEngine(join(home.path, "engine.sock"));
  const env = { DOCKER_HOST: engine.url, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/nowhere" };

  const found = await locateEngine({ env, homeFolder: home.path }, askVersion);

  expect(found.url).toBe(engine.url);
});

test("the current Docker context is followed, and DOCKER_CONTEXT goes before it", async () => {
  await using home = await temporaryFolder();
  const configFolder = join(home.path, ".docker");
  await writeContext(configFolder, "one", `unix://${home.path}/one.sock`);
  await writeContext(configFolder, "two", `unix://${home.path}/two.sock`);
  await writeFile(join(configFolder, "config.json"), JSON.stringify({ currentContext: "one" }));
  await using one = await pretendEngine(join(home.path, "one.sock"));
  await using two = await pretendEngine(join(home.path, "two.sock"));

  const current = await locateEngine({ env: {}, homeFolder: home.path }, askVersion);
  const named = await locateEngine({ env: { DOCKER_CONTEXT: "two" }, homeFolder: home.path }, askVersion);

  expect(current.url).toBe(one.url);
  expect(named.url).toBe(two.url);
});

test("the context named default means the usual places", async () => {
  await using home = await temporaryFolder();
  await using engine = await pretendEngine(join(home.path, ".docker/run/docker.sock"));
  await writeFile(join(home.path, ".docker/config.json"), JSON.stringify({ currentContext: "default" }));

  const found = await locateEngine({ env: {}, homeFolder: home.path }, pingBelow(home.path));

  expect(found).toEqual({ url: engine.url, namedBy: undefined });
});

test("a context that is missing or whose engine is away is an error with the context's name", async () => {
  await using home = await temporaryFolder();
  await writeContext(join(home.path, ".docker"), "away", `unix://${home.path}/away.sock`);

  const missing = locateEngine({ env: { DOCKER_CONTEXT: "missing" }, homeFolder: home.path }, askVersion);
  await expect(missing).rejects.toThrow(/the Docker context "missing" \(DOCKER_CONTEXT\) does not exist/);
  const away = locateEngine({ env: { DOCKER_CONTEXT: "away" }, homeFolder: home.path }, askVersion);

  await expect(away).rejects.toThrow(/the Docker context "away".*does not answer.*away\.sock \(not there\)/);
});

test("a Docker configuration that cannot be parsed is an error with its path, not a reason to guess", async () => {
  await using home = await temporaryFolder();
  await mkdir(join(home.path, ".docker"));
  await writeFile(join(home.path, ".docker/config.json"), "{");

  const search = locateEngine({ env: {}, homeFolder: home.path }, askVersion);

  await expect(search).rejects.toThrow(`${home.path}/.docker/config.json is not JSON`);
});

test("only the given environment counts, not the one of the process", async () => {
  await using home = await temporaryFolder();
  vi.stubEnv("DOCKER_HOST", "unix:///nowhere/engine.sock");
  await using engine = await pretendEngine(join(home.path, ".docker/run/docker.sock"));

  const found = await locateEngine({ env: {}, homeFolder: home.path }, pingBelow(home.path));

  expect(found.url).toBe(engine.url);
});

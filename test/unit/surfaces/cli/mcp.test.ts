import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { crabpot, newHome } from "../../../support/crabpot.ts";
import { RemoteMcpServer } from "../../../support/remote-mcp-server.ts";

const before = "# ours\nassistant: { name: Crab } # keep\n";

function rows(stdout: string): unknown[] {
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

test("nothing is added without --yes, and what is added stands in config.yaml beside its comments", async () => {
  await using place = await newHome({ "config.yaml": before });
  const words = ["mcp", "add", "wiki", "--url", "https://wiki.example/mcp", "--json"];

  const asked = await crabpot(place, ...words);
  expect(asked.code).toBe(3);
  expect(await readFile(join(place.home, "config.yaml"), "utf8")).toBe(before);
  const done = await crabpot(place, ...words, "--yes");
  expect(done.code).toBe(0);
  const text = await readFile(join(place.home, "config.yaml"), "utf8");
  expect(text).toContain("# keep");
  const misnamed = await crabpot(place, "mcp", "add", "My_Wiki", "--url", "https://wiki.example/mcp", "--yes");
  expect(misnamed.stderr).toContain("My_Wiki: lower case letters, digits");
  const { stdout } = await crabpot(place, "mcp", "list", "--json");
  expect(rows(stdout)).toEqual([{ name: "wiki", kind: "remote", state: "ok", groups: [] }]);
});

test("an import is taken as a whole or not at all", async () => {
  await using place = await newHome({ "config.yaml": before });
  const file = join(place.home, "../block.json");
  const time = { command: "docker", args: ["run", "-i", "--rm", "-e", "TZ=UTC", "mcp/time", "--short"] };
  const wide = { command: "docker", args: ["run", "-i", "--privileged", "mcp/wide"] };
  await writeFile(file, JSON.stringify({ mcpServers: { Time: time, wide } }));

  const refused = await crabpot(place, "mcp", "import", file, "--yes");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("needs docker run --privileged");
  expect(await readFile(join(place.home, "config.yaml"), "utf8")).toBe(before);
  const secret = { url: "https://a.example/mcp", headers: { Authorization: "Bearer s3cret" } };
  const clock = { command: "C:\\Windows\\cmd.exe", args: ["/c", "npx", "-y", "clock@1.0.0"] };
  await writeFile(file, JSON.stringify({ mcpServers: { Time: time, secret, clock } }));
  const planned = await crabpot(place, "mcp", "import", file, "--json");
  expect(planned.stdout).not.toContain("s3cret");
  expect(rows(planned.stdout)).toMatchObject([
    { name: "time", settings: { image: "mcp/time", args: ["--short"], env: { TZ: "UTC" } } },
    { name: "secret", settings: { headers: { Authorization: "${SECRET_AUTHORIZATION}" } } },
    { name: "clock", settings: { command: "npx", args: ["-y", "clock@1.0.0"] } },
  ]);
});

test("a server at an address is tried, asks for a login, and is removed", async () => {
  await using server = await RemoteMcpServer.start();
  await using locked = await RemoteMcpServer.start({ asksForLogin: true });
  const settings = { open: server, locked };
  const lines = Object.entries(settings).map(
    ([name, { url, place }]) => `    ${name}: { url: "${url}", allowPrivate: ["${place}"] }\n`,
  );
  await using place = await newHome({ "config.yaml": `mcp:\n  servers:\n${lines.join("")}` });

  const tried = await crabpot(place, "mcp", "test", "open", "--json");
  expect(rows(tried.stdout)).toMatchObject([{ name: "open", state: "ok", tools: [{ name: "echo", state: "ok" }] }]);
  const refused = await crabpot(place, "mcp", "test", "locked");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("asks for a login");
  const { stdout } = await crabpot(place, "mcp", "list", "--json");
  expect(rows(stdout)).toMatchObject([
    { name: "open", state: "ok" },
    { name: "locked", state: "login" },
  ]);
  await crabpot(place, "mcp", "remove", "locked", "--yes");
  const after = await crabpot(place, "mcp", "list", "--json");
  expect(rows(after.stdout)).toMatchObject([{ name: "open" }]);
});

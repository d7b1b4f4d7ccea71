import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { NameServer } from "../../../../redteam/suite/name-server.ts";
import { groupResolver } from "../../../../src/sandbox/egress/addresses/group-resolver.ts";
import type { Resolve } from "../../../../src/sandbox/egress/addresses/pinned-address.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

function resolverOf(server: NameServer, more: { hostsFile?: string; elapsed?: () => number } = {}): Resolve {
  return groupResolver({ nameservers: [server.address], hostsFile: "/nowhere", elapsed: () => 0, ...more });
}

const never = new Promise<never>(() => undefined);

test("names of one group that are not answered keep no other group waiting", async () => {
  await using server = await NameServer.open((name) => (name.startsWith("slow") ? never : ["192.0.2.7"]));
  const [slow, other] = [resolverOf(server), resolverOf(server)];

  let failed = 0;
  const waiting = Array.from({ length: 40 }, (_, index) => slow(`slow${index}.test`).catch(() => void (failed += 1)));
  await expect.poll(() => server.asked.length).toBeGreaterThan(4);
  const answer = await other("quick.test");

  expect(answer).toEqual(["192.0.2.7"]);
  expect(failed).toBe(0);
  expect(waiting).toHaveLength(40);
});

test("a group has four names looked up at once; the others wait, and what is beyond that is refused", async () => {
  const gate = Promise.withResolvers<readonly string[]>();
  await using server = await NameServer.open(() => gate.promise);
  const resolve = resolverOf(server);

  const asked = Array.from({ length: 70 }, (_, index) =>
    resolve(`n${index}.test`).catch((error: Error) => error.message),
  );
  await expect.poll(() => new Set(server.asked).size).toBe(4);
  const refused = await Promise.all(asked.slice(68));
  gate.resolve(["192.0.2.7"]);

  expect(refused).toEqual([
    expect.stringContaining("waiting to be looked up"),
    expect.stringContaining("waiting to be looked up"),
  ]);
  expect(await Promise.all(asked.slice(0, 68))).toEqual(Array.from({ length: 68 }, () => ["192.0.2.7"]));
});

test("many who want one name are one question in their group, and another one in another group", async () => {
  const gate = Promise.withResolvers<readonly string[]>();
  await using server = await NameServer.open(() => gate.promise);
  const [one, other] = [resolverOf(server), resolverOf(server)];

  const answers = [one, one, one, other].map(async (resolve) => resolve("same.test"));
  await expect.poll(() => server.asked.length).toBe(4);
  gate.resolve(["192.0.2.7"]);

  expect(await Promise.all(answers)).toEqual(Array.from({ length: 4 }, () => ["192.0.2.7"]));
  // IPv4 and IPv6, of two groups.
  expect(server.asked).toEqual(Array.from({ length: 4 }, () => "same.test"));
});

test.each([[2], [3]] as const)(
  "a name that fails with %i is asked for again after ten seconds, by this group",
  async (code) => {
    await using server = await NameServer.open(() => code);
    let now = 0;
    const resolve = resolverOf(server, { elapsed: () => now });

    await expect(resolve("gone.test")).rejects.toThrow("gone.test");
    const asked = server.asked.length;
    now = 9_000;
    await expect(resolve("gone.test")).rejects.toThrow("gone.test");
    const askedThen = server.asked.length;
    now = 11_000;
    await expect(resolve("gone.test")).rejects.toThrow("gone.test");
    const askedLater = server.asked.length;
    await expect(resolverOf(server)("gone.test")).rejects.toThrow("gone.test");

    expect(asked).toBeGreaterThan(0);
    expect(askedThen).toBe(asked);
    expect(askedLater).toBeGreaterThan(asked);
    expect(server.asked.length).toBeGreaterThan(askedLater);
  },
);

test("a server that never answers fails by itself", async () => {
  await using server = await NameServer.open(() => "silence");

  await expect(resolverOf(server)("silent.test")).rejects.toThrow("silent.test");
});

test("an answer of hundreds of addresses is cut", async () => {
  await using server = await NameServer.open(() => Array.from({ length: 40 }, (_, index) => `192.0.2.${index}`));

  expect(await resolverOf(server)("many.test")).toHaveLength(32);
});

test("names of /etc/hosts are found without DNS, as it stands now", async () => {
  await using folder = await temporaryFolder();
  const hostsFile = join(folder.path, "hosts");
  await using server = await NameServer.open(() => 3);
  await writeFile(
    hostsFile,
    "# 192.0.2.9 api.corp\n192.0.2.1\tother API.corp # office\n2001:db8::1 api.corp\nnonsense api.corp\n",
  );
  const resolve = resolverOf(server, { hostsFile });

  const before = await resolve("api.corp");
  await writeFile(`${hostsFile}.new`, "192.0.2.2 api.corp\n");
  await rename(`${hostsFile}.new`, hostsFile);
  const after = await resolve("api.corp");

  expect(new Set(before)).toEqual(new Set(["192.0.2.1", "2001:db8::1"]));
  expect(after).toEqual(["192.0.2.2"]);
  expect(server.asked).toEqual([]);
});

test("names below localhost are this machine, whatever a server says", async () => {
  await using server = await NameServer.open(() => ["192.0.2.7"]);

  expect(await resolverOf(server)("echo.localhost")).toEqual(["127.0.0.1", "::1"]);
  expect(server.asked).toEqual([]);
});

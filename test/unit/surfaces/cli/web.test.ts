import { expect, test } from "vitest";
import { stringify } from "yaml";

import { crabpot, jsonLines, newHome, withoutEngine } from "../../../support/crabpot.ts";
import { openWebSite } from "../../../support/web-site.ts";

async function home(web: object) {
  const groups = {
    family: { channel: "terminal", chat: "family", web: { fetch: "allowlist", allow: ["127.0.0.1:8080"] } },
    quiet: { channel: "terminal", chat: "quiet" },
  };
  return newHome({ "config.yaml": stringify({ groups, web }) });
}

test("web show says what each group has, and never the key", async () => {
  await using place = await home({ search: { provider: "brave", apiKey: "canary-of-a-key" } });

  const shown = await crabpot(place, "web", "show");
  const listed = await crabpot(place, "web", "show", "--json");

  expect(shown.stdout).toBe(
    "group\tfetch\tallow\tsearch\nfamily\tallowlist\t127.0.0.1:8080\tbrave\nquiet\toff\t\tbrave\n",
  );
  expect(jsonLines(listed.stdout)[0]).toMatchObject({ group: "family", fetch: "allowlist", search: "brave" });
  expect(shown.stdout + listed.stdout).not.toContain("canary");
});

test("web check says whether a group may fetch from an address, and why not, without fetching", async () => {
  await using place = await home({});
  const check = async (address: string, group: string) =>
    crabpot(place, "web", "check", address, "--group", group, "--json");

  const may = await check("http://127.0.0.1:8080/page", "family");
  const mayNot = await check("https://docs.example/", "family");
  const off = await check("https://docs.example/", "quiet");
  const odd = await check("http://127.1:8080/", "family");
  const unknown = await check("https://docs.example/", "famly");

  expect(may).toMatchObject({ code: 0 });
  expect(JSON.parse(may.stdout)).toEqual({ group: "family", address: "http://127.0.0.1:8080/page", allowed: true });
  expect(mayNot.code).toBe(1);
  expect(JSON.parse(mayNot.stdout)).toMatchObject({
    allowed: false,
    reason: expect.stringContaining("not one of those") as string,
  });
  expect(JSON.parse(off.stdout)).toMatchObject({ allowed: false, reason: "web.fetch is off for this group." });
  expect(JSON.parse(odd.stdout)).toMatchObject({ reason: expect.stringContaining("unusual spelling") as string });
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("Did you mean family?") as string });
});

test("doctor says who may fetch, and whether who searches can be reached, without a search", async () => {
  await using site = await openWebSite({});
  await using there = await home({ search: { provider: "searxng", baseUrl: site.url } });
  await using gone = await home({ search: { provider: "searxng", baseUrl: "http://127.0.0.1:1" } });
  const told = async (place: Awaited<ReturnType<typeof home>>) => {
    const checks = jsonLines((await crabpot({ ...place, variables: withoutEngine }, "doctor", "--json")).stdout);
    return checks.filter(({ check }) => check === "web").map(({ level, detail }) => [level, detail]);
  };

  expect(await told(there)).toEqual([
    ["ok", "Groups that may fetch web pages: family (allowlist)."],
    ["ok", "searxng searches the web, and is reachable."],
  ]);
  expect(site.asked).toEqual(["/"]);
  expect(await told(gone)).toEqual([
    ["ok", "Groups that may fetch web pages: family (allowlist)."],
    ["warning", expect.stringContaining("Cannot reach the search provider searxng")],
  ]);
});

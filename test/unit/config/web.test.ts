import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { effectAt } from "../../../src/config/changes/change-effects.ts";
import { checkConfigText, describeFault } from "../../../src/config/loading/load.ts";
import { secretsOf } from "../../../src/config/loading/secrets.ts";
import type { Config } from "../../../src/config/schema/config.ts";
import { resolveGroup } from "../../../src/config/resolve-group.ts";
import { webAbilities } from "../../../src/domain/settings/web.ts";

function read(text: string): Config | string {
  const check = checkConfigText(text, {}, builtInAdapters);
  return check.ok ? check.loaded.config : check.faults.map(describeFault).join("\n");
}

function config(text: string): Config {
  const found = read(text);
  if (typeof found === "string") throw new Error(found);
  return found;
}

test.each([
  ["web: { fetch: all }", "web.fetch"],
  ["web: { allow: [docs.example] }", "web.allow[0]: write host:port"],
  ['web: { allow: ["https://docs.example:443"] }', "web.allow[0]"],
  ['web: { allow: ["Docs.example:443"] }', "web.allow[0]"],
  ['web: { allow: ["docs.example:0443"] }', "web.allow[0]"],
  ['web: { allow: ["docs.example:65536"] }', "web.allow[0]"],
  ['web: { allow: ["*.docs.example:443"] }', "web.allow[0]"],
  ['web: { allow: ["127.1:80"] }', "web.allow[0]"],
  ['web: { allow: ["2130706433:80"] }', "web.allow[0]"],
  ['web: { allow: ["0x7f.1:80"] }', "web.allow[0]"],
  ['web: { allow: ["[::ffff:127.0.0.1]:80"] }', "web.allow[0]"],
  ['web: { allow: ["me@docs.example:443"] }', "web.allow[0]"],
  ["web: { search: { provider: google } }", "web.search.provider"],
  ["web: { search: { provider: searxng } }", "web.search.baseUrl: is missing"],
  ["web: { search: { provider: brave } }", "web.search.apiKey: is missing"],
  ["web: { search: { provider: brave, apiKey: k, baseUrl: 'file:///x' } }", "web.search.baseUrl"],
  ["web: { search: { provider: brave, apiKey: $BRAVE_KEY } }", "web.search.apiKey: is the text $BRAVE_KEY"],
  ["web: { robots: true }", "robots"],
  ["groups: { g: { channel: terminal, chat: a, web: { search: { provider: brave } } } }", "groups.g.web"],
])("%s is refused", (text, told) => {
  expect(read(text)).toContain(told);
});

test.each([
  "docs.example:443",
  "127.0.0.1:8080",
  "localhost:8080",
  "[::1]:8080",
  "[2001:db8::7]:443",
  "printer.local:80",
])("%s is a place", (place) => {
  expect(config(`web: { allow: ["${place}"] }`).web.allow).toEqual([place]);
});

test("nothing of the web is there unless a line says so; a group has its own, and what it leaves out is as for everybody", () => {
  const none = config("{}");
  const some = config(`
web: { fetch: public, allow: ["a.example:443"], search: { provider: duckduckgo }, fetchesPerDay: 7 }
groups:
  plain: { channel: terminal, chat: a }
  fenced: { channel: terminal, chat: b, web: { fetch: allowlist } }
  inner: { channel: terminal, chat: c, web: { allow: ["b.example:443"] } }
  never: { channel: terminal, chat: d, web: { fetch: off } }
`);
  const onlySearch = config("web: { search: { provider: duckduckgo } }");

  expect(webAbilities(resolveGroup(none, { name: "main" }).web)).toEqual({ fetches: false, searches: false });
  expect(webAbilities(resolveGroup(onlySearch, { name: "main" }).web)).toEqual({ fetches: false, searches: true });
  expect(resolveGroup(some, { name: "plain" }).web).toMatchObject({
    fetch: "public",
    allow: ["a.example:443"],
    fetchesPerDay: 7,
  });
  expect(resolveGroup(some, { name: "fenced" }).web).toMatchObject({ fetch: "allowlist", allow: ["a.example:443"] });
  expect(resolveGroup(some, { name: "inner" }).web).toMatchObject({ fetch: "public", allow: ["b.example:443"] });
  expect(webAbilities(resolveGroup(some, { name: "never" }).web)).toEqual({ fetches: false, searches: false });
  expect(webAbilities(resolveGroup(some, { name: "came by a chat" }).web)).toEqual({ fetches: true, searches: true });
});

test("a change holds from the next turn on, and the key is a secret", () => {
  const { web: _web, ...rest } = config("{}");
  const keyed = { ...rest, web: config("web: { search: { provider: brave, apiKey: canary-key } }").web };

  expect(effectAt(["web", "fetch"])).toBe("now");
  expect(effectAt(["groups", "family", "web"])).toBe("now");
  expect(secretsOf(keyed, builtInAdapters)).toContainEqual(
    expect.objectContaining({ path: "web.search.apiKey", value: "canary-key" }),
  );
});

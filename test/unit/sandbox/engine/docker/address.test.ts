import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type EngineRoute,
  hidePassword,
  isLoopback,
  parseEngineUrl,
} from "../../../../../src/sandbox/engine/docker/address.ts";

test.each([
  ["unix:///var/run/docker.sock", { kind: "unix", path: "/var/run/docker.sock" }],
  ["unix:///a%20b/d.sock", { kind: "unix", path: "/a b/d.sock" }],
  ["tcp://localhost", { kind: "tcp", host: "localhost", port: undefined }],
  ["tcp://[::1]:2376/", { kind: "tcp", host: "::1", port: 2376 }],
  ["ssh://box", { kind: "ssh", user: undefined, host: "box", port: undefined }],
  ["ssh://ann.b@10.0.0.7:2222", { kind: "ssh", user: "ann.b", host: "10.0.0.7", port: 2222 }],
])("the parts of %s", (url, parts) => {
  expect(parseEngineUrl(url)).toEqual(parts);
});

test.each([
  "ssh://-oProxyCommand=touch%20x",
  "ssh://-oProxyCommand=touch x@box",
  "ssh://-l@box",
  "ssh://ann@-oProxyCommand=id",
  "ssh://ann@box -oProxyCommand=id",
  "ssh://ann@box;id",
  "ssh://ann@$(id)",
  "ssh://ann`id`@box",
  "ssh://ann%20b@box",
  "ssh://ann@box:22x",
  "ssh://[.]",
  "tcp://[127.0.0.1]:2376",
  "ssh://ann@box:0",
  "ssh://ann@box:65536",
  "ssh://ann@box/run/docker.sock",
  "ssh://ann@box?x=y",
  "ssh://",
  "ssh://ann:secret@box",
  "tcp://ann:secret@box:2376",
  "tcp://ann@box",
  "tcp://box:2376/path",
  "unix://",
  "http://127.0.0.1:2375",
  "/var/run/docker.sock",
])("an address that is none, or could mean something else to ssh, is refused: %s", (url) => {
  expect(() => parseEngineUrl(url)).toThrow(/an engine's address is|password|is not a port|is not an IPv6 address/);
});

test("nothing that ssh could take for an option, or a shell for a command, is a host or a user", () => {
  const characters = "a1.-_@:/ %$`;|&(){}<>'\"\\\n\0=oP[]".split("");
  const hostile = fc.string({ unit: fc.constantFrom(...characters) });

  fc.assert(
    fc.property(hostile, (text) => {
      const route = routeOrNothing(`ssh://${text}`);
      expect(route?.kind === "ssh" ? route.host : "none").toMatch(/^[\w:][\w.:-]*$/);
      expect(route?.kind === "ssh" ? (route.user ?? "none") : "none").toMatch(/^\w[\w.+-]*$/);
    }),
    { numRuns: 5_000 },
  );
});

function routeOrNothing(url: string): EngineRoute | undefined {
  try {
    return parseEngineUrl(url);
  } catch {
    return undefined;
  }
}

test("a password is shown to nobody", () => {
  expect(hidePassword("ssh://ann:se@cret/x@box")).toBe("ssh://ann:***@box");
  expect(hidePassword("tcp://:secret@box:2376")).toBe("tcp://:***@box:2376");
  expect(hidePassword("tcp://box:2376")).toBe("tcp://box:2376");
});

test.each([
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["localhost", true],
  ["::1", true],
  ["127.0.0.1.example.org", false],
  ["127.example.org", false],
  ["localhost.example.org", false],
  ["0.0.0.0", false],
  ["10.0.0.1", false],
])("%s leads to this machine: %s", (host, answer) => {
  expect(isLoopback(host)).toBe(answer);
});

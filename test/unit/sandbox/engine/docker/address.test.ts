import { expect, test } from "vitest";
import { hidePassword, socketPath } from "../../../../../src/sandbox/engine/docker/address.ts";

test.each([
  ["unix:///var/run/docker.sock", "/var/run/docker.sock"],
  ["unix:///a%20b/d.sock", "/a b/d.sock"],
])("the socket of %s", (url, path) => {
  expect(socketPath(url)).toBe(path);
});

test.each([
  "tcp://localhost",
  "tcp://ann:secret@box:2376",
  "ssh://box",
  "ssh://-oProxyCommand=touch%20x",
  "ssh://",
  "unix://",
  "unix:///",
  "unix:///a%zz",
  "unix://box/var/run/docker.sock",
  "npipe:////./pipe/docker_engine",
  "http://127.0.0.1:2375",
  "/var/run/docker.sock",
])("an address that is not a socket of this machine is refused: %s", (url) => {
  expect(() => socketPath(url)).toThrow(/an engine's address is unix:|URI malformed/);
});

test("a password is shown to nobody", () => {
  expect(hidePassword("ssh://ann:se@cret/x@box")).toBe("ssh://ann:***@box");
  expect(hidePassword("tcp://:secret@box:2376")).toBe("tcp://:***@box:2376");
  expect(hidePassword("tcp://box:2376")).toBe("tcp://box:2376");
});

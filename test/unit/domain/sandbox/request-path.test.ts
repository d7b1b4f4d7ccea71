import * as fc from "fast-check";
import { expect, test } from "vitest";

import { isCanonicalPath, pathMatches } from "../../../../src/domain/sandbox/request-path.ts";

test.each(["/", "/v1", "/v1/", "/v1/items/7", "/v1/a.b/.well-known", "/v1/caf%C3%A9", "/v1/a@b:c,d=e", "/%61"])(
  "%s is read in one way",
  (path) => expect(isCanonicalPath(path)).toBe(true),
);

test.each([
  "",
  "*",
  "v1",
  "//v1",
  "/v1//x",
  "/v1/.",
  "/v1/..",
  "/v1/../x",
  "/v1/%2e%2e/x",
  "/v1/.%2E/x",
  "/v1/%252e%252e/x",
  "/v1/..%2fx",
  "/v1/%5c..",
  String.raw`/v1/\..`,
  "/v1/..;/x",
  "/v1/x;y",
  "/v1/x%3by",
  "/v1/%c0%ae%c0%ae/x",
  "/v1/%ef%bc%8e%ef%bc%8e/x",
  "/v1/%ef%bc%8fx",
  "/v1/..%20/x",
  "/v1/.../x",
  "/v1/%00",
  "/v1/%",
  "/v1/%zz",
  "/v1/a#b",
  "/v1/\u00e9",
])("%s could be read in two ways", (path) => {
  expect(isCanonicalPath(path)).toBe(false);
  expect(pathMatches(path, "/*")).toBe(false);
});

test("a pattern is a whole path, or everything that begins like it", () => {
  expect(pathMatches("/v1/a", "/v1/*")).toBe(true);
  expect(pathMatches("/v1", "/v1/*")).toBe(false);
  expect(pathMatches("/v1/a", "/v1")).toBe(false);
  expect(pathMatches("/V1/a", "/v1/*")).toBe(false);
  expect(pathMatches("/v1", "/v1")).toBe(true);
});

test("however often a path that matches is decoded and resolved, it stays below its prefix", () => {
  const part = fc.constantFrom(
    "a",
    ".",
    "..",
    "/",
    "%2f",
    "%2e",
    "%252e",
    "\\",
    "%5c",
    ";",
    "%ef%bc%8e",
    "%c0%ae",
    " ",
    "%20",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const path = `/v1/${parts.join("")}`;
      if (!pathMatches(path, "/v1/*")) return;
      let read = path;
      for (let times = 0; times < 3; times += 1) read = decodeURIComponent(read).normalize("NFKC");
      expect(new URL(read, "http://x.test").pathname).toMatch(/^\/v1\//);
    }),
  );
});

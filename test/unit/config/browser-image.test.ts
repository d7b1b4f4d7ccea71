import { expect, test } from "vitest";

import { judgeBrowsers } from "../../../src/surfaces/cli/commands/doctor/machine/browser.ts";
import { builtInAdapters } from "../../../src/config/adapters.ts";
import { resolveGroup } from "../../../src/config/resolve-group.ts";
import { packagesConfig } from "../../../src/abilities/packages/config.ts";
import { type Config, configSchema } from "../../../src/config/schema/config.ts";
import type { ResolvedGroup } from "../../../src/domain/settings/resolved-group.ts";

function configWith(group: object, sandbox: object = {}): Config {
  return configSchema(builtInAdapters).parse({
    groups: { family: { channel: "terminal", chat: "family", ...group } },
    sandbox,
  });
}

function familyWith(image: unknown): ResolvedGroup {
  return resolveGroup(configWith({ image }), { name: "family" });
}

test("image: browser stands for the packages of a browser, also with others besides", () => {
  const alone = familyWith("browser").packages;
  const more = familyWith({ browser: true, apt: ["pandoc"], npm: ["playwright-core@1.0.0"] }).packages;

  expect(alone).toEqual({
    apt: ["chromium", "fonts-liberation", "libnss3-tools"],
    pip: [],
    npm: [expect.stringMatching(/^playwright-core@[0-9.]+$/)],
  });
  // The agent's program fits one version, whatever the group names.
  expect(more).toEqual({ ...alone, apt: ["chromium", "fonts-liberation", "libnss3-tools", "pandoc"] });
  expect(familyWith("browser").image.browser).toBe(true);
  expect(familyWith({ apt: ["chromium"] }).image.browser).not.toBe(true);
  expect(resolveGroup(configWith({}), { name: "other" }).image.browser).not.toBe(true);
});

test("any other word is none of the variants", () => {
  const { image } = packagesConfig.ofGroup;

  expect(image.safeParse("chrome").success).toBe(false);
  expect(image.safeParse({ browser: "yes" }).success).toBe(false);
});

test("doctor says that a browser has too little memory, too few processes or no way out, and nothing where there is none", () => {
  const network = { allow: ["shop.example:443"], allowPrivate: [] };
  const judge = (sandbox: object, group: object = { image: { browser: true }, network }): object[] =>
    judgeBrowsers(configWith(group, sandbox));

  expect(judge({ memoryMb: 1024, pids: 256 })).toEqual([
    { check: "browser", level: "ok", detail: "family: a browser with enough memory." },
  ]);
  expect(judge({ memoryMb: 256, pids: 128 })).toEqual([
    expect.objectContaining({
      level: "warning",
      detail: expect.stringContaining("sandbox.memoryMb is 256, and at least 768 are needed; sandbox.pids is 128"),
    }),
  ]);
  expect(judge({ memoryMb: 1024, pids: 256 }, { image: { browser: true } })).toEqual([
    expect.objectContaining({ level: "warning", detail: "family: a browser without any allowed host." }),
  ]);
  expect(judge({ memoryMb: 128, pids: 64 }, {})).toEqual([]);
});

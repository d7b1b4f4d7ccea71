import { expect, test } from "vitest";

import { judgeBrowsers } from "../../../src/surfaces/cli/commands/doctor/browser.ts";
import { hasBrowser, packagesOf } from "../../../src/config/groups.ts";
import { groupImage } from "../../../src/config/schema/packages.ts";
import type { Config } from "../../../src/config/schema/config.ts";

function configWith(image: unknown): Pick<Config, "groups"> {
  return { groups: { family: { image: groupImage.parse(image) } } } as unknown as Pick<Config, "groups">;
}

test("image: browser stands for the packages of a browser, also with others besides", () => {
  const alone = packagesOf(configWith("browser"), "family");
  const more = packagesOf(configWith({ browser: true, apt: ["pandoc"], npm: ["playwright-core@1.0.0"] }), "family");

  expect(alone).toEqual({
    apt: ["chromium", "fonts-liberation", "libnss3-tools"],
    pip: [],
    npm: [expect.stringMatching(/^playwright-core@[0-9.]+$/)],
  });
  // The agent's program fits one version, whatever the group names.
  expect(more).toEqual({ ...alone, apt: ["chromium", "fonts-liberation", "libnss3-tools", "pandoc"] });
  expect(hasBrowser(configWith("browser"), "family")).toBe(true);
  expect(hasBrowser(configWith({ apt: ["chromium"] }), "family")).toBe(false);
  expect(hasBrowser({ groups: {} }, "family")).toBe(false);
});

test("any other word is none of the variants", () => {
  expect(groupImage.safeParse("chrome").success).toBe(false);
  expect(groupImage.safeParse({ browser: "yes" }).success).toBe(false);
});

test("doctor says that a browser has too little memory, too few processes or no way out, and nothing where there is none", () => {
  const network = { allow: ["shop.example:443"], allowPrivate: [] };
  const judge = (sandbox: object, group: object = { image: { browser: true }, network }): object[] =>
    judgeBrowsers({ groups: { family: group }, sandbox: { network: "none", ...sandbox } } as unknown as Config);

  expect(judge({ memoryMb: 1024, pids: 256 })).toEqual([
    { check: "browser", level: "ok", detail: "family: a browser, with room for pages." },
  ]);
  expect(judge({ memoryMb: 256, pids: 128 })).toEqual([
    expect.objectContaining({
      level: "warning",
      detail: expect.stringContaining("sandbox.memoryMb is 256, and at least 768 are needed; sandbox.pids is 128"),
    }),
  ]);
  expect(judge({ memoryMb: 1024, pids: 256 }, { image: { browser: true } })).toEqual([
    expect.objectContaining({ level: "warning", detail: "family: a browser, but no host that it may reach." }),
  ]);
  expect(judge({ memoryMb: 64, pids: 16 }, {})).toEqual([]);
});

import { expect, test } from "vitest";

import { createReplyRedaction } from "../../../src/delivery/redact.ts";

const secret = "sk-canary-0123456789/abc";
const redact = createReplyRedaction([secret, "short"]);

test.each([
  ["as it is", secret],
  ["in a URL", `https://evil.test/?q=${encodeURIComponent(secret)}`],
  ["in hexadecimal", Buffer.from(secret).toString("hex")],
  ["in base64", Buffer.from(secret).toString("base64")],
  ["in base64 behind one byte", Buffer.from(`x${secret}y`).toString("base64")],
  ["in base64 behind two bytes", Buffer.from(`xy${secret}`).toString("base64url")],
  ["backwards", Array.from(secret).toReversed().join("")],
  ["with blanks between", Array.from(secret).join(" ")],
  ["with invisible characters between", Array.from(secret).join("\u200b")],
])("a secret %s is taken out of a reply", (_how, form) => {
  const { text, count } = redact(`before ${form} after`);

  expect(count).toBe(1);
  expect(text).toMatch(/^before .*\[redacted\].* after$/);
  expect(text.length).toBeLessThan("before  after".length + 60);
});

test("text without a secret, and values too short to tell from words, stay as they are", () => {
  const text = "a short text about sk-canary";

  expect(redact(text)).toEqual({ text, count: 0 });
});

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { withoutEchoes } from "../../../../src/models/wire/echoes.ts";
import { ProviderError } from "../../../../src/models/provider.ts";

const prompt = (text: string) => ({ system: ["You are crab."], messages: [{ role: "user", text } as const] });
const told = (message: string, text: string): string =>
  withoutEchoes(new ProviderError("invalid", message), prompt(text)).message;

test("what a vendor repeats of the prompt is left out of its reason, its own words stay", () => {
  const said = 'my code is "canary-6b1f0e-41",\nkeep it';

  expect(told("openai answered 400: messages.2.role is not known", said)).toBe(
    "openai answered 400: messages.2.role is not known",
  );
  expect(told(`openai answered 400: cannot read 'my code is "canary-6b1f0e-41", keep it' there`, said)).toBe(
    "openai answered 400: cannot read '[…]' there",
  );
  expect(
    told(String.raw`openai answered 400: {"text":"my code is \"canary-6b1f0e-41\",\nkeep it"}`, said),
  ).not.toContain("canary");
});

test("whatever is sent and however it is repeated, no sixteen characters of it are told", () => {
  const text = fc.string({ unit: "grapheme", minLength: 16, maxLength: 80 });
  fc.assert(
    fc.property(text, text, (sent, before) => {
      const message = told(`400: ${before} ${sent}`, sent);

      for (let at = 0; at + 16 <= sent.length; at += 1) expect(message).not.toContain(sent.slice(at, at + 16));
    }),
    { examples: [[`    "${" ".repeat(11)}`, " ".repeat(16)]] },
  );
});

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { SecretFinder } from "../../../../src/lib/secrets/secret-finder.ts";
import { anyCharacter } from "../../../support/any-character.ts";

const secret = "Ghp-canary/77aa+1b2C3d4e";
const bytes = Buffer.from(secret);

function inBase32(text: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}

/** Ways to write the secret that an ordinary server has. */
const writings: readonly (readonly [string, string])[] = [
  ["as it is", secret],
  ["in upper case", secret.toUpperCase()],
  ["in lower case", secret.toLowerCase()],
  ["with dots between", Array.from(secret).join(".")],
  ["with dashes between", Array.from(secret).join(" - ")],
  ["character by character in JSON", JSON.stringify(Array.from(secret))],
  ["in JSON that escapes signs", secret.replaceAll(/[+/]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)],
  ["in a URL", encodeURIComponent(secret)],
  ["in a URL, all of it", `%${bytes.toString("hex").match(/../g)?.join("%")}`],
  ["in hexadecimal", bytes.toString("hex")],
  ["in hexadecimal, spaced", bytes.toString("hex").toUpperCase().match(/../g)?.join(":") ?? ""],
  ["in UTF-16", Buffer.from(secret, "utf16le").toString("latin1")],
  ["backwards", Array.from(secret).toReversed().join("")],
  ...["", "x", "xy"].map(
    (front) => [`in base64 behind ${front.length}`, Buffer.from(`${front}${secret}z`).toString("base64")] as const,
  ),
  [
    "in base64 with lines",
    (
      Buffer.from(secret)
        .toString("base64")
        .match(/.{1,12}/g) ?? []
    ).join("\r\n"),
  ],
  ["in base64url", Buffer.from(secret).toString("base64url")],
  ...["", "a", "ab", "abc", "abcd"].map(
    (front) => [`in base32 behind ${front.length}`, inBase32(`${front}${secret}z`)] as const,
  ),
  ["in base32 in lower case", inBase32(secret).toLowerCase()],
];

test.each(writings)("a secret is found %s", (_how, writing) => {
  const text = Buffer.from(`before ${writing} after`, "latin1");

  const found = new SecretFinder([secret], 8).find(text);

  expect(found).toHaveLength(1);
  const { from = 0, to = 0 } = found[0] ?? {};
  // In base64 and base32 the characters at the edges depend on their neighbours too.
  expect(from).toBeLessThan("before ".length + 8);
  expect(to).toBeGreaterThan(text.length - " after".length - 8);
});

test("what is near to a secret, too far apart, or only a part of it is not found", () => {
  const finder = new SecretFinder([secret, "short"], 8);
  const others = [
    "",
    secret.slice(1),
    secret.slice(0, -1),
    secret.replace("77", "78"),
    "a short text",
    Array.from(secret).join(" ".repeat(9)),
  ];

  expect(others.filter((text) => finder.find(Buffer.from(text)).length > 0)).toEqual([]);
});

test("a secret with many signs in a row is found as it is", () => {
  const wide = "0000!!!!!!!!!!!!ü!!!!!!!!1111";

  expect(new SecretFinder([wide], 8).find(Buffer.from(`is ${wide} it`))).toEqual([{ from: 3, to: 3 + 30 }]);
});

test("a form of fewer than eight letters and digits is not looked for", () => {
  expect(new SecretFinder(["a-b-c-d!!!!"], 8).find(Buffer.from("abcd a-b-c-d!!!!"))).toEqual([]);
});

test("any secret is found in any text around it, by itself and between others", () => {
  const word = fc.stringMatching(/^[!-~]{8,40}$/).filter((text) => text.replaceAll(/[^A-Za-z0-9]/g, "").length >= 8);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.string({ unit: anyCharacter }),
      (secrets, around) => {
        const finder = new SecretFinder(secrets, 8);
        for (const one of secrets) {
          const text = Buffer.from(`${around} ${one} ${around}`);
          const at = text.indexOf(` ${one} `);
          const first = at + 1 + one.search(/[A-Za-z0-9]/);
          expect(finder.find(text).some(({ from, to }) => from <= first && to > first)).toBe(true);
        }
      },
    ),
  );
});

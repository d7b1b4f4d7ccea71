import { expect, test } from "vitest";

import { withoutOwnElements } from "../../../../src/lib/text/own-elements.ts";
import { escapeAttribute, escapeText } from "../../../../src/lib/text/markup.ts";
import { foldName, hasHiddenCharacters } from "../../../../src/lib/files/paths.ts";
import { plainSentence, quotedName } from "../../../../src/lib/text/plain-words.ts";
import { escapeJson, visible, visibleLines } from "../../../../src/lib/text/visible.ts";
import { visiblePath } from "../../../../src/sandbox/mounts/walk.ts";

const terminal = { visible, visibleLines, escapeJson, shown: (text: string) => visiblePath(Buffer.from(text)) };
const prompt = { escapeText, escapeAttribute, withoutOwnElements };
const names = { quotedName, plainSentence };

test.each([
  ["an escape", "\u001b"],
  ["a C1 control", "\u009b"],
  ["a line separator", "\u2028"],
  ["a bidi control", "\u202e"],
  ["a blank of no width", "\u200b"],
  ["a joiner between letters", "\u200d"],
  ["a soft hyphen", "\u00ad"],
  ["a grapheme joiner", "\u034f"],
  ["a Hangul filler", "\u3164"],
  ["a selector after a letter", "\ufe0f"],
  ["a selector that can spell hidden text", "\u{e0101}"],
  ["a tag", "\u{e0041}"],
  ["an ignorable that is not assigned yet", "\u{e0fff}"],
])("%s passes nowhere, whoever prints, logs, prompts or names", (_what, character) => {
  const text = `ad${character}min`;

  const passed = Object.entries({ ...terminal, ...prompt, ...names }).filter(([, use]) =>
    use(text).includes(character),
  );

  expect(passed.map(([use]) => use)).toEqual([]);
  expect(hasHiddenCharacters(text)).toBe(true);
});

test("what is not seen does not make two names differ", () => {
  expect(["\u200b", "\u3164", "\ufe0f", "\u{e0101}"].map((character) => foldName(`.s${character}sh`))).toEqual(
    Array.from({ length: 4 }, () => ".ssh"),
  );
});

test.each(["👩‍🚀", "👩🏽‍🚀", "❤️", "☎︎", "1️⃣", "🏳️‍🌈"])(
  "the picture %s stays whole on terminals, in prompts and in paths",
  (picture) => {
    const text = `so ${picture}!`;

    const uses = Object.values({ ...terminal, ...prompt });
    expect(uses.map((use) => use(text))).toEqual(uses.map(() => text));
    expect(hasHiddenCharacters(text)).toBe(false);
  },
);

test("words of a script that needs joiners keep them where a model reads, and show them where a person looks for tricks", () => {
  const word = "می\u200cخواهم";

  expect(Object.values(prompt).map((use) => use(word))).toEqual([word, word, word]);
  expect(visible(word)).toBe("می\\u{200c}خواهم");
});

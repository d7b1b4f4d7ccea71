import { expect, test } from "vitest";

import { escapeJson, visible, visibleLines } from "../../../../src/lib/text/visible.ts";

test.each(["👩‍🚀", "👩🏽‍🚀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👁️‍🗨️", "🧔‍♂️", "❤️‍🔥"])("the composed emoji %s is shown as it is", (emoji) => {
  const text = `so ${emoji}!`;

  expect([visible(text), visibleLines(text), escapeJson(text)]).toEqual([text, text, text]);
});

test.each([
  ["ad\u200dmin", "ad\\u{200d}min"],
  ["\u200d", "\\u{200d}"],
  ["👩\u200d", "👩\\u{200d}"],
  ["\u200d🚀", "\\u{200d}🚀"],
  ["👩\u200d\u200d🚀", "👩\\u{200d}\\u{200d}🚀"],
  ["1\u200d🚀", "1\\u{200d}🚀"],
  ["👩\u202e🚀", "👩\\u{202e}🚀"],
])("a joiner that joins no emoji is made visible: %j", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

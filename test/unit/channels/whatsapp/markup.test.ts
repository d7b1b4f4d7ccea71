import * as fc from "fast-check";
import { expect, test } from "vitest";

import { withMentions } from "../../../../src/channels/whatsapp/outgoing/mentions.ts";
import { toWhatsApp } from "../../../../src/channels/whatsapp/outgoing/markup.ts";

test.each([
  ["**bold** and __bold__", "*bold* and *bold*"],
  ["*italic* and _italic_", "_italic_ and _italic_"],
  ["***both***", "*_both_*"],
  ["**bold with *italic* in it**", "*bold with _italic_ in it*"],
  ["~~gone~~", "~gone~"],
  ["`**code**` and ``a`b``", "`**code**` and `a'b`"],
  ["`` `", "`` `"],
  ["a ``` b", "a ''' b"],
  ["# ``*`", "*'''*"],
  ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
  ["# Title\ntext", "*Title*\ntext"],
  ["## **Bold** title ##", "*Bold title*"],
  ["[site](https://example.org/a_(b))", "site (https://example.org/a_(b))"],
  ["[https://a.example](https://a.example)", "https://a.example"],
  ["![alt](https://a.example/x.png)", "alt (https://a.example/x.png)"],
  ["<https://a.example>", "https://a.example"],
  ["* one\n+ two\n  - three", "- one\n- two\n  - three"],
  ["- [ ] open\n- [x] done", "- ☐ open\n- ☑ done"],
  ["1. one\n2. two", "1. one\n2. two"],
  ["> quoted", "> quoted"],
  ["---", "———"],
  ["```python\nprint('**x**')\n```", "```\nprint('**x**')\n```"],
  ["~~~\na\n~~~", "```\na\n```"],
  ["```\nnever closed", "```\nnever closed\n```"],
  ["\\*not italic\\*", "*not italic*"],
  ["| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |", "- *x*: 1\n- *y*: 2"],
  ["| a | b | c |\n|:--|:-:|--:|\n| x | 1 | 2 |", "- *x* · b: 1 · c: 2"],
  ["a\n\n\n\nb", "a\n\nb"],
  ["a | b", "a | b"],
])("%j is written as %j", (markdown, written) => {
  expect(toWhatsApp(markdown)).toBe(written);
});

test("whatever an agent writes, fences are closed and code is unchanged", () => {
  const piece = fc.constantFrom(
    "*",
    "**",
    "_",
    "`",
    "```",
    "\n",
    "[",
    "](",
    ")",
    "|",
    "---",
    "#",
    " ",
    "a",
    "\\",
    "~~",
    "- ",
    "<",
    ">",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
      const written = toWhatsApp(pieces.join(""));

      expect(written.split("```").length % 2).toBe(1);
    }),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z*_~[\]()|# ]{1,40}$/), (code) => {
      expect(toWhatsApp(`before\n\`\`\`ts\n${code}\n\`\`\`\nafter`)).toBe(`before\n\`\`\`\n${code}\n\`\`\`\nafter`);
    }),
  );
});

test("members are mentioned by their whole names, the longest first, not in code and not in addresses", () => {
  const members = new Map([
    ["ann", "1@lid"],
    ["ann marie", "2@lid"],
    ["bob (work)", "3@s.whatsapp.net"],
  ]);

  const { text, mentions } = withMentions("@Ann Marie, @ANN! @bob (work)? @anna x@ann `@ann` @ann.", members);

  expect(text).toBe("@2, @1! @3? @anna x@ann `@ann` @1.");
  expect(mentions).toEqual(["2@lid", "1@lid", "3@s.whatsapp.net"]);
});

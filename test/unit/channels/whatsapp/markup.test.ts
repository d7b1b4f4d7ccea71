import * as fc from "fast-check";
import { expect, test } from "vitest";

import { withMentions } from "../../../../src/channels/whatsapp/outgoing/mentions.ts";
import { toWhatsApp } from "../../../../src/channels/whatsapp/outgoing/markup.ts";

test.each([
  ["**bold** and __bold__", "*bold* and *bold*"],
  ["*italic* and _italic_", "_italic_ and _italic_"],
  ["***both***", "_*both*_"],
  ["**bold with *italic* in it**", "*bold with _italic_ in it*"],
  ["~~gone~~", "~gone~"],
  ["`**code**` and ``a`b``", "`**code**` and `a'b`"],
  ["`` `", "`` `"],
  ["a ``` b", "a ''' b"],
  ["# ``*`", "``*`"],
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
  // Signs that are no emphasis.
  ["## Run `*/5 * * * *` daily", "*Run `*/5 * * * *` daily*"],
  ["# 2 * 3 * 4 = 24", "*2 * 3 * 4 = 24*"],
  ["### Use of *args and **kwargs", "Use of *args and **kwargs"],
  ["# `**/*.ts` globs", "*`**/*.ts` globs*"],
  ["2*3*4 and 2**3**4 and __init__.py, __call__(x)", "2*3*4 and 2**3**4 and __init__.py, __call__(x)"],
  ["这是**重点**内容，**注意：**请看", "这是*重点*内容，*注意：*请看"],
  // Tables.
  ["| Day | Time |\n|---|---|\n| **Mon** | 9:00 |", "- *Mon*: 9:00"],
  ["| File | Use |\n|---|---|\n| **`__init__.py`** | a |", "- *`__init__.py`*: a"],
  ["| File | Use |\n|---|---|\n| *note | a |\n| __main__.py | b |", "- *note: a\n- *__main__.py*: b"],
  ["| a | b |\n|---|---|\n| x | 1<br>2 \\| 3 |", "- *x*: 1 / 2 | 3"],
  ["| a | b |\n|---|---|", "*a · b*"],
  ["one\n\n| a | b |\n|---|---|\n| x | 1 |\n\ntwo", "one\n\n- *x*: 1\n\ntwo"],
  // Addresses.
  ["https://docs.example/x.html#object.__init__", "https://docs.example/x.html#object.__init__"],
  ["[init](https://e.org/x#object.__init__)", "init (https://e.org/x#object.__init__)"],
  ["https://e.org/~a/~~b~~/c and https://e.org/*a*/b", "https://e.org/~a/~~b~~/c and https://e.org/*a*/b"],
  ["<https://e.org/__a__> ?a=**b**", "https://e.org/__a__ ?a=*b*"],
  ["https://e.org/?a=**b**", "https://e.org/?a=**b**"],
  ["[t](https://e.org 'title') [x](<https://e.org/a b>)", "t (https://e.org) x (https://e.org/a b)"],
  ["[![badge](https://a.b/c)](https://d.e)", "badge (https://a.b/c) (https://d.e)"],
  ["[[1]](https://e.org/1) <mailto:a@b.c>", "[1] (https://e.org/1) mailto:a@b.c"],
  ["[ref]: https://e.org/a_b_c", "[ref]: https://e.org/a_b_c"],
  ["**a\nb**", "*a\nb*"],
  // Code in lists, without what the list puts before it.
  ["10. Run:\n    ```\n    a = **b**\n    ```", "10. Run:\n```\na = **b**\n```"],
  [
    "- a\n  - b\n\n    ```python\n    def __init__(self):\n\n\n        pass\n    ```\n- c",
    "- a\n  - b\n\n```\ndef __init__(self):\n\n\n    pass\n```\n- c",
  ],
  ["> said\n> ```\n> x\n> ```", "> said\n```\nx\n```"],
  ["- one\n\n  more of it\n- [ ] two\n-\n3. three", "- one\n\n  more of it\n- ☐ two\n- \n3. three"],
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

test("every character of code and every address is in what is sent, and a plain word gains no mark", () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,6}$/);
  const signs = fc.stringMatching(/^[a-z0-9*_~[\]#|/.-]{1,12}$/);
  const address = fc.stringMatching(/^[a-z0-9*_~#/.-]{0,12}$/).map((rest) => `https://e.org/a${rest}z`);
  const said = fc.oneof(
    word.map((text) => ({ text, sent: text })),
    address.map((text) => ({ text, sent: text })),
    address.map((url) => ({ text: `[label](${url})`, sent: `label (${url})` })),
    signs.map((code) => ({ text: `\`${code}\``, sent: `\`${code}\`` })),
    word.map((text) => ({ text: `**${text}**`, sent: `*${text}*` })),
    word.map((text) => ({ text: `*${text}*`, sent: `_${text}_` })),
  );
  const before = fc.constantFrom("", "- ", "1. ", "> ", "- [ ] ");
  fc.assert(
    fc.property(before, fc.array(said, { minLength: 1, maxLength: 6 }), (start, pieces) => {
      const written = toWhatsApp(start + pieces.map(({ text }) => text).join(" "));

      expect(written).toContain(pieces.map(({ sent }) => sent).join(" "));
    }),
  );
});

test.each(["> ".repeat(5_000), "- ".repeat(5_000), "1. ".repeat(5_000), "[".repeat(5_000), "*a".repeat(5_000)])(
  "nothing is lost of marks without an end, as in %.8s…",
  (marks) => {
    expect(toWhatsApp(`${marks}end`).endsWith("end")).toBe(true);
  },
);

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

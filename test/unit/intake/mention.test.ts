import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { namesMentioned, withoutLeadingMention } from "../../../src/intake/addressing/mention.ts";
import { anyCharacter } from "../../support/any-character.ts";

const isMentioned = (text: string, name: string): boolean => namesMentioned(text, [name]).length > 0;

const engages = [
  "@crab hello",
  "@CRAB hello",
  "@Crab",
  "  @crab  ",
  "hello @crab",
  "hello @crab, how are you?",
  "@crab's idea",
  "@crab.",
  "@crab!",
  "(@crab)",
  "¿@crab?",
  "漢字、@crab、漢字",
  "@crab🦀",
  "a\n@crab\nb",
  "> what somebody said\n@crab do you agree?",
  "@anna/@crab please",
  "`code` @crab",
  "a ` @crab with a lonely backtick",
  "5 ` and\n@crab and ` there",
  "```one line``` @crab",
  "```\ncode\n```\n@crab",
  "see ```\ncode\n``` @crab",
  "~~~\ncode\n~~~~\n@crab",
  "``a ` b`` @crab",
  "@crab: https://example.org/x",
  "@crabby and @crab",
  "@crab帮我看看",
  "请@crab看一下",
  "@crabさん",
  "ねえ@crabくん、これ",
  "@crab님",
  "크랩아@crab아",
  "＠crab hi",
  "﹫ｃｒａｂ hi",
  "@⁨crab⁩ hi",
  "\u200f@crab\u200f مرحبا",
  "مرحبا@crab",
  "@crabمرحبا",
  "שלום@crab",
  "ขอ@crabหน่อย",
  "ที่@crab",
  "नमस्ते@crab",
  "_@crab_ hi",
  "**@crab** hi",
  "__@crab__ hi",
  "~@crab~ hi",
  "❤️@crab",
  "@crab’s idea",
  "@crab´s idea",
  "@crab- and what now?",
  "@crab-帮我",
  "@crab.请看",
  "@crab…",
  "@crab/@anna",
];

const doesNotEngage = [
  "crab",
  "@",
  "",
  "@crabby hi",
  "@crab1",
  "@crab_x",
  "@crab-x",
  "@crab.io",
  "@crabé",
  "@crab\u0301",
  "@краб",
  "x@crab",
  "mail anna+x@crab",
  "mail anna+@crab",
  "anna.b@crab.io",
  "@@crab",
  "@crab@example.org",
  "https://example.org/@crab",
  "@ crab",
  "@c\u200brab",
  "1@crab",
  "５@crab",
  "é@crab",
  "е\u0301@crab",
  "foo_@crab_ hi",
  "@crab_ hi",
  "x＠crab",
  "张三@crab.io",
  "ｘ@crab",
  "@crabby帮我",
  "@crab１",
  "@crabа",
  "`@crab`",
  "``@crab` ``",
  "```@crab```",
  "```\n@crab\n```",
  "```js\n@crab",
  "text\n```\n@crab",
  "````\n```\n@crab\n```\n````",
  "```\n    ```\n@crab\n```",
  "~~~\n@crab\n```\n@crab",
  "  ```\n  @crab\n  ```",
  "see ```\n@crab\n``` there",
  "```\r\n@crab\r\n```",
  "> @crab",
  ">@crab",
  "  > > @crab",
  "> a\n> @crab",
];

describe("the agent is mentioned", () => {
  test.each(engages)("by %j", (text) => {
    expect(isMentioned(text, "crab")).toBe(true);
  });

  test.each(doesNotEngage)("but not by %j", (text) => {
    expect(isMentioned(text, "crab")).toBe(false);
  });

  test("by its name taken literally, dots and all", () => {
    expect(isMentioned("@C.L.A.U.D.E hi", "C.L.A.U.D.E")).toBe(true);
    expect(isMentioned("@c.l.a.u.d.e. Hi", "C.L.A.U.D.E")).toBe(true);
    expect(isMentioned("@CXLXAUXDXE hi", "C.L.A.U.D.E")).toBe(false);
    expect(isMentioned("@Andy hi", "Claw")).toBe(false);
  });

  test("by a name with accents, however these are written", () => {
    expect(isMentioned("hi @CAFE\u0301!", "Café")).toBe(true);
  });

  test.each([
    ["小蟹", "@小蟹帮我看看", true],
    ["小蟹", "请@小蟹，看一下", true],
    ["クラブ", "@クラブさん", true],
    ["クラブ", "@クラブハウス", false],
    ["크랩", "@크랩아 도와줘", true],
    ["سلطعون", "@سلطعون مرحبا", true],
    ["سلطعون", "@سلطعونات مرحبا", false],
    ["ปู", "@ปูช่วยหน่อย", true],
    ["Краб", "@КРАБ, привет", true],
    ["Краб", "@Крабик", false],
    ["ΣΑΣ", "@σας", true],
  ])("by the name %s in %j: %s", (name, text, heard) => {
    expect(isMentioned(text, name)).toBe(heard);
  });

  test("by the longest of several names that fits", () => {
    expect(namesMentioned("@蟹王你好", ["蟹", "蟹王"])).toEqual(["蟹王"]);
    expect(namesMentioned("@蟹你好 @蟹王", ["蟹", "蟹王"])).toEqual(["蟹", "蟹王"]);
  });

  test.each([
    ["@crab: and then?", "and then?"],
    ["@⁨crab⁩, and then?", "and then?"],
    ["＠ＣＲＡＢ帮我 ①", "帮我 ①"],
    ["crab, and then?", "crab, and then?"],
    ["@crabby", "@crabby"],
  ])("%j is shown without it as %j", (text, rest) => {
    expect(withoutLeadingMention(text, "crab")).toBe(rest);
  });

  const name = fc.stringMatching(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,12}$/u);
  const plain = fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => !/[@`~>]/.test(text));

  test("wherever its name stands as its own word between words without code", () => {
    fc.assert(
      fc.property(name, plain, plain, (assistant, before, after) => {
        expect(isMentioned(`${before} @${assistant} ${after}`, assistant)).toBe(true);
      }),
    );
  });

  test("never by what stands in a fence of any length, whatever else is in it", () => {
    const fence = fc
      .tuple(fc.constantFrom("`", "~"), fc.integer({ min: 3, max: 9 }))
      .map(([mark, n]) => mark.repeat(n));
    fc.assert(
      fc.property(fence, plain, fc.boolean(), (marks, content, closed) => {
        const block = `${marks}\n${content}\n@crab ${marks.slice(1)}\n${content}\n${closed ? `${marks}\nbye` : ""}`;
        expect(isMentioned(`hello\n${block}`, "crab")).toBe(false);
      }),
    );
  });

  test("never by inline code or a quoted line", () => {
    fc.assert(
      fc.property(plain, plain, fc.integer({ min: 1, max: 5 }), (before, content, count) => {
        const line = content.replaceAll(/[\n\r]/g, " ");
        const marks = "`".repeat(count);
        expect(isMentioned(`x ${before}x ${marks} ${line} @crab ${line} ${marks} `, "crab")).toBe(false);
        expect(isMentioned(`x\n> ${line} @crab ${line}`, "crab")).toBe(false);
      }),
    );
  });

  test("or not, without an error, by any text at all", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), name, (text, assistant) => {
        expect(typeof isMentioned(`@${text}\n\`\`\`${text}`, assistant)).toBe("boolean");
      }),
    );
  });
});

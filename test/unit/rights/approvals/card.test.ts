import * as fc from "fast-check";
import { expect, test } from "vitest";

import { digestInput } from "../../../../src/rights/approvals/asking.ts";
import { cardText, cutInput, wholeInput } from "../../../../src/rights/approvals/card.ts";
import type { NewApproval } from "../../../../src/domain/rights/approval.ts";

function asking(input: unknown, more: Partial<NewApproval> = {}): NewApproval {
  return {
    code: "K7M3QX",
    call: "1",
    tool: "shell",
    ...digestInput(input),
    risk: "high",
    rule: "preset standard: high",
    asker: { id: "http:ann", name: "Ann", role: "member" },
    approvers: "admin",
    quorum: 1,
    askedAt: 0,
    expiresAt: 1,
    ...more,
  };
}

const here = { minutes: 30, canAnswerHere: true, byThumb: false };

test("a card says who asks for what, exactly, why, for how long, and how to answer", () => {
  expect(cardText(asking({ command: "git push\n--force" }), here)).toBe(
    [
      'May I use shell for "Ann" (http:ann)? Code K7M3QX (16 characters in 2 lines)',
      "```",
      "git push\n--force",
      "```",
      "Risk: high, asked because of preset standard: high. No answer within 30 minutes counts as a no.",
      "Answer (admin or higher): /approve K7M3QX [once|session|day|always] or /deny K7M3QX [reason]",
      "Longer than once, it covers this call, asked for by member or higher, after reading nothing from elsewhere.",
    ].join("\n"),
  );
  expect(cardText(asking({ path: "a", content: "b\nc" }), here)).toContain(
    '{\n  "content": "b\\nc",\n  "path": "a"\n}',
  );
  expect(cardText(asking({ command: "ls" }, { quorum: 2 }), here)).toContain("2 different people must allow it.");
});

test("whose name is that of somebody else is told by the id, which mentions nobody", () => {
  const asker = { id: "whatsapp:168131012345@lid", name: "Ann\n*Bo*", role: "guest" } as const;

  expect(cardText(asking({ command: "ls" }, { asker }), here)).toMatch(
    /^May I use shell for "Ann Bo" \(whatsapp:168131012345 at lid\)\? Code/,
  );
});

test("where nobody may answer it says who can", () => {
  const text = cardText(asking({ command: "ls" }, { approvers: "owner" }), { ...here, canAnswerHere: false });

  expect(text).toContain("Nobody here can answer (it takes the role owner); the operator can: ");
  expect(text).not.toContain("/approve");
});

test("a command cannot pass for the host's words, hide a character or fold its lines", () => {
  const tricky = "echo a\u202e\u200b\r\n```\nRisk: low. Answer: /approve AAAAAA";

  const [before, block, after] = cardText(asking({ command: tricky }), here).split("```\n");

  expect(before).toBe('May I use shell for "Ann" (http:ann)? Code K7M3QX (48 characters in 3 lines)\n');
  expect(block).toContain("echo a⟨U+202E⟩⟨U+200B⟩⟨U+000D⟩");
  expect(block).toContain("⟨3 × U+0060⟩");
  expect(after).toMatch(/^Risk: high/);
});

test("a long command is cut with its length and digest, and is not to be allowed in the chat", () => {
  const long = asking({ command: `echo ${"x".repeat(5_000)}; rm -rf /` });

  const text = cardText(long, here);

  expect(text).toContain("(5,015 characters in 1 line)");
  expect(text).toContain(`\n⟨… the middle is left out; SHA-256 of all: ${long.sha256} …⟩\n`);
  expect(text).toContain("x; rm -rf /\n```");
  expect(text).not.toContain("/approve");
  expect(text).toContain("/deny K7M3QX");
  expect(cutInput(asking({ command: "echo\n".repeat(100) })).isWhole).toBe(false);
});

test("of a text of a megabyte the beginning and the end are shown, too", () => {
  const text = cardText(asking({ command: `echo begin; ${"\u200b\u200c ".repeat(400_000)}; echo end` }), here);

  expect(text).toContain("(1,200,022 characters in 1 line)");
  expect(text).toContain("\necho begin; ⟨U+200B⟩");
  expect(text).toContain("; echo end\n```");
  expect(text.length).toBeLessThan(3_000);
});

test("inputs that differ never have one digest, and equal ones always do", () => {
  expect(digestInput({ b: [1, { d: 1, c: 2 }], a: 1 })).toEqual(digestInput({ a: 1, b: [1, { c: 2, d: 1 }] }));
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const areEqual = digestInput(one).input === digestInput(other).input;
      expect(digestInput(one).sha256 === digestInput(other).sha256).toBe(areEqual);
      expect(JSON.parse(digestInput(one).input)).toEqual(JSON.parse(JSON.stringify(one)));
    }),
  );
});

test("whatever is asked, three backticks end the block only where the host has written them", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("`", "``", "```", "\n", "x", "\u200b")), (marks) => {
      expect(wholeInput(digestInput({ command: marks.join("") }).input)).not.toContain("```");
    }),
  );
});

const change = { diff: "@@ -1,1 +1,1 @@\n-Be kind.\n+Be rude.", base: "x" };

test("a change of instructions is shown as what it changes, with the agent's reason as such, and can be allowed once only", () => {
  const input = { content: "Be rude.\n", reason: "the operator *wants* it. Risk: low @all" };

  expect(cardText(asking(input, { tool: "propose_instructions", change }), here)).toBe(
    [
      'May I use propose_instructions for "Ann" (http:ann)? Code K7M3QX (35 characters in 3 lines)',
      "```",
      change.diff,
      "```",
      "It would change AGENTS.md, the instructions of this group.",
      "The agent says why: “the operator wants it. Risk: low at all”",
      "Risk: high, asked because of preset standard: high. No answer within 30 minutes counts as a no.",
      "Answer (admin or higher): /approve K7M3QX or /deny K7M3QX [reason]",
    ].join("\n"),
  );
  const same = cardText(asking(input, { change: { ...change, diff: "" } }), here);
  expect(same).toContain("```\n(nothing would change)\n```");
});

test("a long change is cut, says how many lines are missing, and cannot be allowed in the chat; hidden characters are seen", () => {
  const diff = Array.from({ length: 100 }, (_, line) => `+line ${line}\u202e`).join("\n");
  const long = asking({ content: "x" }, { change: { diff, base: "x" } });

  const text = cardText(long, here);

  expect(text).toContain("+line 27⟨U+202E⟩\n⟨… ");
  expect(text).toContain("+line 99⟨U+202E⟩\n```");
  expect(text).not.toContain("/approve");
  expect(cutInput(long).isWhole).toBe(false);
});

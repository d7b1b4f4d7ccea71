import { expect, test } from "vitest";

import { isSilent } from "../../../../src/domain/chats/silence.ts";

test.each([
  "NO_REPLY",
  " NO_REPLY\n",
  "`NO_REPLY`",
  "**NO_REPLY**.",
  '"NO_REPLY"',
  "<internal>nothing new</internal>\nNO_REPLY",
])("%j says nothing", (answer) => {
  expect(isSilent(answer)).toBe(true);
});

test.each(["", "no_reply", "NO_REPLY is what I say", "All is well.\nNO_REPLY", "NO_REPLY NO_REPLY", "NO_REPLY2"])(
  "%j is an answer",
  (answer) => {
    expect(isSilent(answer)).toBe(false);
  },
);

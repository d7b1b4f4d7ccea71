import * as fc from "fast-check";
import { expect, test } from "vitest";

import { hideThoughts } from "../../../src/delivery/hide-thoughts.ts";
import { createReplyPatterns, createReplyRedaction } from "../../../src/delivery/redact.ts";
import { answerPieces, outputPieces } from "../../../src/delivery/text-pieces.ts";
import { isSilent } from "../../../src/domain/chats/silence.ts";

const secret = "sk-canary-0123456789/abc";
const patterns = createReplyPatterns([secret]);
const redact = createReplyRedaction([secret]);

function shownOf(pieces: readonly string[], make = answerPieces): readonly string[] {
  const stages = make(patterns);
  return [...pieces.map((piece) => stages.add(piece)), stages.end()];
}

test("thoughts are not shown, also when their tags come in pieces", () => {
  const shown = shownOf(["Hello", " <int", "ernal>I think", " so</inter", "nal>you", " <b>there</b>"]);

  expect(shown.join("")).toBe("Hello you <b>there</b>");
  expect(shown[0]).toMatch(/^Hell/);
});

test("a secret in which a thought stands is taken out", () => {
  expect(shownOf(["sk-canary-0123<internal>no", "thing</internal>456789/abc!"]).join("")).toBe("[redacted]!");
});

test.each(["NO_REPLY", " *NO_REPLY*. ", "<internal>nothing to say</internal>NO_REPLY"])(
  "nothing is shown of an answer that says nothing: %s",
  (answer) => {
    expect(shownOf(Array.from(answer))).toEqual(expect.arrayContaining([""]));
    expect(shownOf(Array.from(answer)).join("")).toBe("");
  },
);

test.each([
  ["NO_REPLY\ud83d", "\ude00"],
  ["\ud83d", "\ude00NO_REPLY"],
])("nothing is shown of an answer that says nothing and comes cut within a character: %j %j", (...pieces) => {
  expect(shownOf(pieces).join("")).toBe("");
});

test("half of a pair of characters waits for the other half", () => {
  expect(shownOf(["a\ud83d", "\ude00b"])).toEqual(["a", "😀b", ""]);
  expect(shownOf(["a\ud83d"], outputPieces)).toEqual(["a", "\ufffd"]);
});

const fragment = fc.constantFrom(
  ..."<internal>|</internal>|<INTERNAL>|<|</|int|ernal>| |\n|word|sk-canary-|0123456789/abc|NO_|REPLY|.|😀".split("|"),
);
const answerInPieces = fc
  .array(fragment, { maxLength: 12 })
  .map((fragments) => fragments.join(""))
  .chain((text) =>
    fc.array(fc.nat(text.length), { maxLength: 6 }).map((cuts) => {
      const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
      return places.slice(1).map((place, index) => text.slice(places[index], place));
    }),
  );

test("however an answer comes, what was shown in the end is the reply", () => {
  fc.assert(
    fc.property(answerInPieces, (pieces) => {
      const answer = hideThoughts(pieces.join(""));
      const reply = isSilent(answer) ? "" : redact(answer).text;
      expect(shownOf(pieces).join("")).toBe(reply);
    }),
    { numRuns: 2_000 },
  );
});

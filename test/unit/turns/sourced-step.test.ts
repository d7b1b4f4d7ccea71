import { expect, test } from "vitest";

import { ofHost, sourced, sourcedPiece } from "../../../src/domain/rights/sourced.ts";
import { fillTemplate } from "../../../src/turns/context/prompt/template.ts";
import { resultsStep } from "../../../src/turns/steps/result-parts.ts";
import { type SourcedTurns, userStep } from "../../../src/turns/steps/sourced-step.ts";

const about = { at: 7 };

test("a step brings what its pieces come from, and what its calls have touched", () => {
  const picture = { kind: "image", blob: "0".repeat(64), mimeType: "image/png", bytes: 1 } as const;
  const said = [
    sourced("hello", ["guest"]),
    sourcedPiece(picture, { origins: ["file"], folders: ["family"] }),
    ofHost`!`,
  ];
  const result = { callId: "1", output: "read", isError: false };
  const exposure = { origins: ["web"], folders: ["work"], writesFolder: true } as const;

  expect(userStep(said, about)).toMatchObject({
    body: { kind: "user", parts: [{ text: "hello" }, picture, { text: "!" }] },
    exposure: { origins: ["guest", "file"], folders: ["family"], writesFolder: false },
  });
  expect(resultsStep([{ result, origins: ["mcp"], folders: ["family"] }], { exposure, at: 7 })).toMatchObject({
    body: { kind: "tools", results: [result] },
    exposure: { origins: ["web", "mcp"], folders: ["family", "work"], writesFolder: true },
  });
});

/** Words without their sources, in sections, messages, results and steps: it is compiled, and not called. */
function wrong(turns: SourcedTurns): readonly unknown[] {
  const result = { callId: "1", output: "x", isError: false };
  return [
    // @ts-expect-error: a plain string
    userStep(["words"], about),
    // @ts-expect-error: a part without origins
    userStep([{ kind: "text", text: "words" }], about),
    // @ts-expect-error: an imitation, which no function has made
    userStep([{ text: "words", origins: [], folders: [] }], about),
    // @ts-expect-error: a plain string in a section
    fillTemplate("{{agent}}", { agent: "crab" }),
    // @ts-expect-error: a plain string between words of the host
    ofHost`Called ${"words"}.`,
    // @ts-expect-error: a result without its sources
    resultsStep([{ result }], { exposure: undefined, at: 7 }),
    // @ts-expect-error: a step without its sources
    turns.addStep("t", { body: { kind: "user", text: "words" }, tokens: 1, at: 7 }),
  ];
}

test("the compiler refuses words without their sources", () => {
  expect(wrong).toBeTypeOf("function");
});

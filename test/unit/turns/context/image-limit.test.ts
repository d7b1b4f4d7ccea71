import * as fc from "fast-check";
import { expect, test } from "vitest";

import { limitImages } from "../../../../src/turns/context/image-limit.ts";
import { estimateStepTokens } from "../../../../src/turns/context/tokens.ts";
import type { BlobPart } from "../../../../src/domain/chats/part.ts";
import { blobsPerStep, imageBytes } from "../../../../src/domain/chats/part.ts";
import type { Step, StepBody } from "../../../../src/domain/turns/turn.ts";
import { blobsOf } from "../../../../src/domain/turns/turn.ts";

/** Steps with this many images of these sizes, as what people said and as results in turn. */
function stepsWith(sizes: readonly (readonly number[])[]): Step[] {
  return sizes.map((bytesOfEach, index) => {
    const parts = bytesOfEach.map((bytes, number): BlobPart => {
      const blob = `${String(index).padStart(32, "0")}${String(number).padStart(32, "0")}`;
      return { kind: "image", blob, mimeType: "image/png", bytes, name: `${index}-${number}.png` };
    });
    const body: StepBody =
      index % 2 === 0
        ? { kind: "user", parts: [{ kind: "text", text: "look" }, ...parts] }
        : { kind: "tools", results: [{ callId: "c", parts, isError: false }] };
    return { seq: index, turn: "t", at: 1, tokens: estimateStepTokens(body), body };
  });
}

function shownIn(steps: readonly Step[]): readonly BlobPart[] {
  return limitImages(steps).flatMap(({ body }) => blobsOf(body));
}

function bytesOf(images: readonly BlobPart[]): number {
  return images.reduce((total, { bytes }) => total + bytes, 0);
}

const sizes = fc.array(fc.array(fc.integer({ min: 1, max: imageBytes }), { maxLength: blobsPerStep }), {
  minLength: 1,
  maxLength: 30,
});

test("up to 20 images are shown, and the steps with them are left as they are", () => {
  const steps = stepsWith(Array.from({ length: 10 }, () => [100, 100]));

  expect(limitImages(steps)).toBe(steps);
});

test("the 21st makes half of them words at once, which cost less and name them", () => {
  const steps = stepsWith(Array.from({ length: 21 }, () => [100]));

  const limited = limitImages(steps);

  expect(shownIn(steps).map(({ name }) => name)).toEqual(
    Array.from({ length: 10 }, (_, index) => `${index + 11}-0.png`),
  );
  expect(JSON.stringify(limited[0])).toContain(
    "[image: 0-0.png, image/png, 100 bytes, 000000000000] [not shown anymore",
  );
  expect(limited[0]?.tokens).toBeLessThan(steps[0]?.tokens ?? 0);
});

test("however a conversation grows, images are few and small enough, and none comes back", () => {
  fc.assert(
    fc.property(sizes, (history) => {
      const steps = stepsWith(history);
      let before: readonly BlobPart[] = [];
      for (let count = 1; count <= steps.length; count += 1) {
        const shown = shownIn(steps.slice(0, count));
        const fresh = blobsOf(steps[count - 1]?.body ?? { kind: "user", text: "" });
        expect(shown.length).toBeLessThanOrEqual(20);
        expect(bytesOf(shown)).toBeLessThanOrEqual(20_000_000);
        expect(shown.every((image) => before.includes(image) || fresh.includes(image))).toBe(true);
        const freshShown = shown.filter((image) => fresh.includes(image));
        expect(freshShown).toEqual(bytesOf(fresh) <= 20_000_000 ? fresh : freshShown);
        // What was shown is left alone until there is too much.
        const all = [...before, ...fresh];
        expect(shown).toEqual(all.length <= 20 && bytesOf(all) <= 20_000_000 ? all : shown);
        before = shown;
      }
    }),
    { numRuns: 100 },
  );
});

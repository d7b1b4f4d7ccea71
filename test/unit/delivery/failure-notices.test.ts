import { expect, test } from "vitest";

import { createFailureNotices } from "../../../src/delivery/failure-notices.ts";
import { someGroup } from "../../support/some-group.ts";

function openRig(groups = [someGroup("main", { main: true })]) {
  const told: string[] = [];
  let now = 0;
  const note = createFailureNotices({
    tell: ({ text }) => void told.push(text),
    groups: { list: () => groups },
    clock: { now: () => now },
  });
  const fail = (group: string, failure: string, model?: string) =>
    note({ group: { name: group, model }, turn: "t1", failure, detail: "401." });
  return { told, fail, pass: (ms: number) => (now += ms) };
}

test("the operator is told about a failure once an hour, of a model once for all groups of its route", () => {
  const { told, fail, pass } = openRig();

  const answers = [
    fail("one", "model_unavailable"),
    fail("two", "model_unavailable"),
    fail("two", "model_unavailable", "b"),
  ];
  pass(3_599_999);
  answers.push(fail("one", "model_unavailable"));
  pass(1);
  answers.push(fail("two", "model_unavailable"));

  expect(answers).toEqual([true, true, true, true, true]);
  expect(told.map((text) => /group (\w+)/.exec(text)?.[1])).toEqual(["one", "two", "two"]);
  expect(told[0]).toContain("crabpot turns show t1");
});

test("a container of one group is no news of another's", () => {
  const { told, fail } = openRig();

  for (const group of ["one", "one", "two"]) fail(group, "container_lost");

  expect(told).toHaveLength(2);
});

test("without a main group nobody is told", () => {
  const { told, fail } = openRig([someGroup("family")]);

  expect([fail("family", "model_unavailable"), told]).toEqual([false, []]);
});

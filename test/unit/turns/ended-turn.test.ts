import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { AgentSilence } from "../../../src/turns/agent-silence.ts";
import { ToolsWait } from "../../../src/turns/tool-calls/tools-wait.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("an answer that is stored when its turn has ended waits for no sign of life of the agent", () => {
  const fell = vi.fn<() => void>();
  const silence = new AgentSilence({ limitMs: 1_000, ping: () => true, fell });

  silence.told();
  silence[Symbol.dispose]();
  silence.told();

  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(fell).not.toHaveBeenCalled();
});

test("tools of an answer that is stored when its turn has ended leave no place and end nothing", () => {
  const calls: string[] = [];
  const place = {
    leave: () => void calls.push("leave"),
    claim: async () => undefined,
    overdue: () => ({ [Symbol.dispose]: () => undefined }),
    [Symbol.dispose]: () => undefined,
  };
  const wait = new ToolsWait({ place, holdMs: 5_000, end: () => void calls.push("end") });

  wait[Symbol.dispose]();
  wait.begin();

  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(calls).toEqual([]);
});

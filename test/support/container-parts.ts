import { protocolVersion } from "../../src/protocol/version.ts";
import type { ProbeReport } from "../../src/protocol/messages.ts";
import type { HotContainerOptions, MailboxEvents } from "../../src/sandbox/pool/hot-container.ts";
import type { RunningContainer } from "../../src/sandbox/pool/launch.ts";

/** A container without an engine: it runs for ever, and is what was asked for. */
export function runningContainer(overrides: Partial<RunningContainer>): RunningContainer {
  return {
    id: "f00",
    name: "crabpot-test",
    generation: 1,
    uid: 1,
    mailFolder: "",
    exited: new Promise(() => undefined),
    attest: async () => [],
    hasMounts: false,
    lookIntoMounts: async () => ({ refused: undefined, setIdFiles: [], executionPoints: new Map(), secrets: [] }),
    isFrozen: () => false,
    freeze: async () => undefined,
    thaw: async () => undefined,
    limitCounters: async () => undefined,
    heldMemoryMb: async () => undefined,
    remove: async () => undefined,
    ...overrides,
  };
}

/** Parts of a hot container whose agent is ready immediately. */
export function hotContainerOptions(overrides: Partial<HotContainerOptions>): HotContainerOptions {
  return {
    kind: "main",
    session: "one",
    group: "family",
    fingerprint: "",
    onJob: async () => undefined,
    openMailbox: async ({ onMessage }: MailboxEvents) => {
      const probe = {} as ProbeReport;
      void onMessage({ version: protocolVersion, id: 1, generation: 1, acked: 0, payload: { type: "ready", probe } });
      return {
        send: async () => 1,
        setFrozen: () => undefined,
        takeFile: async () => ({ ok: false, reason: "missing" }) as const,
        giveFile: async () => "1.html",
        removeFiles: async () => undefined,
        [Symbol.asyncDispose]: async () => undefined,
      };
    },
    onLog: () => undefined,
    onGone: () => undefined,
    onLimit: () => undefined,
    onLeftBehind: () => undefined,
    stop: new AbortController().signal,
    now: () => 0,
    ...overrides,
  };
}

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { builtInAdapters } from "../../../src/config/adapters.ts";
import { resolveGroup } from "../../../src/config/resolve-group.ts";
import { configSchema } from "../../../src/config/schema/config.ts";
import type { Group } from "../../../src/domain/chats/group.ts";
import {
  mainSessionKey,
  type Session,
  type SessionVisibility,
  sideSessionKey,
} from "../../../src/domain/turns/session.ts";
import { visibleSessions } from "../../../src/turns/sessions/visible-sessions.ts";
import { someGroup } from "../../support/some-group.ts";

const family = someGroup("family", { channel: "http", chat: "family" });
const lab = someGroup("lab", { channel: "http", chat: "lab" });
const groups: readonly Group[] = [family, lab];

function sessionOf(group: Group, id: string, more: Partial<Session> = {}): Session {
  const kind = more.kind ?? (more.parent === undefined ? "main" : "agent");
  const key = kind === "main" ? mainSessionKey(group) : sideSessionKey(group, { kind, id });
  return {
    id,
    key,
    kind,
    group: group.name,
    conversation: 1,
    generation: 0,
    contextCursor: 0,
    windowStart: 0,
    clearedBefore: 0,
    ...more,
  };
}

const own = sessionOf(family, "own");
const child = sessionOf(family, "child", { parent: "own" });
const grandchild = sessionOf(family, "grandchild", { parent: "child" });
const task = sessionOf(family, "task", { kind: "task", parent: "gone" });
const scout = sessionOf({ ...family, agent: "scout" }, "scout");
const other = sessionOf(lab, "other");
const all = [own, child, grandchild, task, scout, other];

function seen(visibility: SessionVisibility, viewer = own): string[] {
  return visibleSessions({ session: viewer, visibility }, all, groups).map(({ id }) => id);
}

test("each visibility shows what the one before it shows, and more", () => {
  expect(seen("self")).toEqual(["own"]);
  expect(seen("tree")).toEqual(["own", "child", "grandchild"]);
  expect(seen("group")).toEqual(["own", "child", "grandchild", "task", "scout"]);
  expect(seen("all")).toEqual(["own", "child", "grandchild", "task", "scout", "other"]);
});

test("who works for another session does not see it", () => {
  expect(seen("tree", child)).toEqual(["child", "grandchild"]);
});

test("sessions that are archived, of groups that are gone, or of the chat that a group was before are seen by nobody", () => {
  const former = { ...sessionOf(family, "former"), key: "main:http:elsewhere" };
  const archived = { ...child, archivedAt: 1 };
  const sessions = [own, former, archived, other];

  expect(visibleSessions({ session: own, visibility: "all" }, sessions, [family])).toEqual([own]);
});

test("parents that lead in a circle end", () => {
  const circle = [own, { ...child, parent: "b" }, sessionOf(family, "b", { parent: "child" })];

  expect(visibleSessions({ session: own, visibility: "tree" }, circle, groups)).toEqual([own]);
});

test("only main groups see other groups", () => {
  const config = configSchema(builtInAdapters).parse({ sessions: { visibility: "all" } });

  expect([true, false].map((main) => resolveGroup(config, { name: "any", main }).sessionVisibility)).toEqual([
    "all",
    "group",
  ]);
});

test("whatever sessions there are, no visibility but all shows another group's", () => {
  const session = fc.record({
    group: fc.constantFrom(family, lab),
    id: fc.string({ minLength: 1, maxLength: 3 }),
    parent: fc.option(fc.string({ minLength: 1, maxLength: 3 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(session), fc.constantFrom("self", "tree", "group"), (made, visibility) => {
      const sessions = [own, ...made.map(({ group, id, parent }) => sessionOf(group, id, { parent }))];
      const shown = visibleSessions({ session: own, visibility }, sessions, groups);
      expect(shown.filter(({ group }) => group !== "family")).toEqual([]);
      expect(shown).toContain(own);
    }),
  );
});

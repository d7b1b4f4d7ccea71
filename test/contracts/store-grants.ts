import { expect, test } from "vitest";

import type { GrantedCall } from "../../src/stores/contract/approval-store.ts";
import { approvalAnswer, ask, asking, by, hourMs, openAsking, silent } from "./store-approvals.ts";
import type { OpenStore } from "./store-setup.ts";

/** Conditions of `ask`. */
const bound = {
  rule: "policy.tools.shell",
  role: "member",
  approvers: "admin",
  quorum: 1,
  origins: [],
  directory: undefined,
  scripts: [],
} as const;

/** Calls that people have allowed for longer. */
export function testGrants(open: OpenStore): void {
  test("a grant covers exactly its call, as far as it was meant, until it is revoked", async () => {
    const asks = [
      ask("AAA", { sha256: "session" }),
      ask("BBB", { sha256: "day" }),
      ask("CCC", { sha256: "always" }),
      ask("DDD", { sha256: "once" }),
    ];
    await using home = await openAsking(open, ...asks);
    const { store } = home;
    for (const [index, scope] of (["session", "day", "always", "once"] as const).entries()) {
      await store.approvals.decide(
        approvalAnswer(asks[index]?.code ?? "", { scope, at: 10 * hourMs - 200, by: by("ann") }),
        () => [],
      );
    }
    const session = (await store.turns.get("t"))?.session ?? "";
    const call = { group: "family", session, conversation: 1, tool: "shell", now: 200, ...bound };
    const covered = async (more: Partial<typeof call>) => {
      const found = [];
      for (const { sha256 } of asks) found.push(await store.approvals.grantFor({ ...call, sha256, ...more }));
      return found.map((grant) => grant?.scope);
    };

    // All answers came when the time was over.
    expect(await covered({})).toEqual([undefined, undefined, undefined, undefined]);
    await store.turns.addStep("t", asking(...asks.map((one) => ({ ...one, code: `${one.code}2` }))));
    for (const [index, scope] of (["session", "day", "always", "once"] as const).entries()) {
      await store.approvals.decide(approvalAnswer(`${asks[index]?.code}2`, { scope }), silent);
    }

    expect(await covered({})).toEqual(["session", "day", "always", undefined]);
    expect(await covered({ tool: "read_file" })).toEqual([undefined, undefined, undefined, undefined]);
    expect(await covered({ group: "work" })).toEqual([undefined, undefined, undefined, undefined]);
    expect(await covered({ conversation: 2 })).toEqual([undefined, "day", "always", undefined]);
    expect(await covered({ session: "other" })).toEqual([undefined, "day", "always", undefined]);
    expect(await covered({ now: 200 + 24 * hourMs })).toEqual(["session", undefined, "always", undefined]);
    expect(await covered({ now: 200 - 2 * hourMs })).toEqual(["session", undefined, "always", undefined]);
    expect((await store.approvals.grants({ now: 200 })).map(({ scope }) => scope).toSorted()).toEqual([
      "always",
      "day",
      "session",
    ]);
    const always = (await store.approvals.grants({ group: "family", now: 200 })).find(
      ({ scope }) => scope === "always",
    );
    expect(await store.approvals.revoke(always?.id ?? "", 300)).toMatchObject({ code: "CCC2", revokedAt: 300 });
    expect(await store.approvals.revoke(always?.id ?? "", 300)).toBeUndefined();
    const reopened = await home.restart();
    expect(await reopened.approvals.grantFor({ ...call, sha256: "always" })).toBeUndefined();
    expect(await reopened.approvals.grantFor({ ...call, sha256: "day" })).toMatchObject({ by: "member:bob" });
  });
  test("a grant covers what asks for no more: its rule, role, people, sources, folder and scripts", async () => {
    const asked = {
      asker: { id: "terminal:ann", name: "Ann", role: "member" },
      approvers: "admin",
      quorum: 2,
      rule: "rules[0]",
      origins: ["member", "file"],
      directory: "/workspace/group/app",
      scripts: [{ path: "x.sh", sha256: "a" }, { path: "y.sh" }],
      sha256: "x",
    } as const;
    await using home = await openAsking(open, ask("AAA", asked));
    const { store } = home;
    for (const name of ["ann", "bob"])
      await store.approvals.decide(approvalAnswer("AAA", { scope: "always", by: by(name) }), silent);
    const { session = "" } = (await store.turns.get("t")) ?? {};
    const { approvers, quorum, rule, origins, directory, scripts } = asked;
    const binding = { role: "member", approvers, quorum, rule, origins, directory, scripts } as const;
    const call = { group: "family", session, conversation: 1, tool: "shell", sha256: "x", now: 200, ...binding };
    const covers = async (more: Partial<GrantedCall>) =>
      (await store.approvals.grantFor({ ...call, ...more })) !== undefined;

    for (const same of [
      {},
      { role: "owner" },
      { approvers: "member" },
      { quorum: 1 },
      { origins: [] },
      { origins: ["member"] },
      { origins: ["owner", "admin", "file"] },
    ] as const)
      expect([same, await covers(same)]).toEqual([same, true]);
    for (const other of [
      { role: "guest" },
      { approvers: "owner" },
      { quorum: 3 },
      { rule: "rules[1]" },
      { origins: ["member", "file", "web"] },
      { origins: ["guest"] },
      { directory: "/workspace/group" },
      { directory: undefined },
      { scripts: [{ path: "x.sh", sha256: "b" }, { path: "y.sh" }] },
      {
        scripts: [
          { path: "x.sh", sha256: "a" },
          { path: "y.sh", sha256: "c" },
        ],
      },
      { scripts: [] },
    ] as const)
      expect([other, await covers(other)]).toEqual([other, false]);
    const reopened = await home.restart();
    expect(await reopened.approvals.grants({ now: 200 })).toMatchObject([binding]);
  });

  test("nobody gives more than the widest scope of a call", async () => {
    await using home = await openAsking(open, ask("AAA", { widest: "day" }));

    const { approval } = await home.store.approvals.decide(approvalAnswer("AAA", { scope: "always" }), silent);

    expect(approval).toMatchObject({ scope: "day", widest: "day" });
    expect(await home.store.approvals.grants({ now: 200 })).toMatchObject([{ scope: "day" }]);
  });
}

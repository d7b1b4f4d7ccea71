import { symlink } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { judgeGroupMounts } from "../../../../src/sandbox/mounts/group-mounts.ts";
import type { Access, MountRequest } from "../../../../src/domain/chats/group.ts";
import { pretendMachine } from "../../../support/pretend-machine.ts";

const machine = await pretendMachine();
afterAll(() => machine[Symbol.asyncDispose]());

function mount(source: string, access: Access, more: Partial<MountRequest> = {}): MountRequest {
  return { source, target: "x", access, shared: false, protect: [], ...more };
}

/** Verdict on `family`'s mount while `work` asks for the other one. */
async function judge(own: MountRequest, other: MountRequest, mountInfo?: string) {
  const groups = [
    { name: "family", mounts: [own] },
    { name: "work", mounts: [other] },
  ] as const;
  const context = { ...machine.context, ...(mountInfo !== undefined && { mountInfo }), hostUid: 1 };
  const parts = { context, ordinal: 0, instance: "" };
  const [verdict] = (await judgeGroupMounts(groups[0], groups, parts)).verdicts;
  return verdict === undefined ? undefined : { ...verdict, rule: "rule" in verdict ? verdict.rule : "granted" };
}

const app = "~/projects/app";
const inside = "~/projects/app/src/deep";

describe("two groups with the same folder", () => {
  test.each<[string, MountRequest, MountRequest]>([
    ["both write", mount(app, "rw"), mount(app, "rw")],
    ["one writes, one reads", mount(app, "rw"), mount(app, "ro")],
    ["one reads, one writes", mount(app, "ro"), mount(app, "rw")],
    ["one lies in the other", mount(inside, "ro"), mount(app, "rw")],
    ["one lies around the other", mount(app, "ro"), mount(inside, "rw")],
    ["one by a link", mount("~/projects/to-app", "ro"), mount(app, "rw")],
    ["one by dots", mount("~/projects/app/src/..", "ro"), mount(app, "rw")],
    ["only one says that it is shared", mount(app, "ro", { shared: true }), mount(app, "rw")],
    ["only the other says so", mount(app, "ro"), mount(app, "rw", { shared: true })],
  ])("are refused it when %s", async (_, own, other) => {
    expect(await judge(own, other)).toMatchObject({
      verdict: "denied",
      rule: "shared",
      reason: expect.stringMatching(/group work.*shared: true/) as unknown,
    });
  });

  test.each<[string, MountRequest, MountRequest]>([
    ["both only read", mount(app, "ro"), mount(app, "ro")],
    ["both say that it is shared", mount(app, "ro", { shared: true }), mount(inside, "rw", { shared: true })],
    ["the folders are neighbours", mount("~/projects/ssh", "ro"), mount("~/projects/.sshd", "rw")],
    ["one name begins like the other", mount("~/projects/config", "ro"), mount("~/projects/.configuration", "rw")],
    ["the other group would not get it", mount(app, "ro"), mount("~/projects2/app", "rw")],
    ["the other may only read by the allowlist", mount("~/docs", "ro"), mount("~/docs/handbook", "rw")],
    ["the other asks for what is missing", mount(app, "ro"), mount("~/projects/missing", "rw")],
  ])("get it when %s", async (_, own, other) => {
    expect(await judge(own, other)).toMatchObject({ verdict: "ro" });
  });

  test("are refused it by another path too: the same folder, mounted a second time", async () => {
    const projects = join(machine.path, "home/projects");
    const lines = ["1 0 8:1 / / rw - ext4 none rw", `2 1 8:1 ${projects}/app/src ${projects}/.sshd rw - ext4 none rw`];
    const other = mount(app, "rw");

    const plain = await judge(mount("~/projects/.sshd", "ro"), other, lines[0]);
    const bound = await judge(mount("~/projects/.sshd", "ro"), other, lines.join("\n"));

    expect(plain).toMatchObject({ verdict: "ro" });
    expect(bound).toMatchObject({ verdict: "denied", rule: "shared" });
  });

  test("are judged by where a link leads at that moment", async () => {
    const place = join(machine.path, "home/projects/moving");
    const before = await judge(mount(app, "ro"), mount(place, "rw"));

    await symlink(join(machine.path, "home/projects/app"), place);

    expect(before).toMatchObject({ verdict: "ro" });
    expect(await judge(mount(app, "ro"), mount(place, "rw"))).toMatchObject({ rule: "shared" });
  });
});

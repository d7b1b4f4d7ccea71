import * as fc from "fast-check";
import { expect, test } from "vitest";

import { containerUser } from "../../../../src/sandbox/mounts/container-user.ts";
import type { MountGrant } from "../../../../src/sandbox/mounts/rules.ts";

function mount(realPath: string, uid: number, verdict: "ro" | "rw" = "rw"): MountGrant {
  return { source: realPath, target: "x", verdict, reason: "", realPath, uid, gid: uid, device: "1", inode: "2" };
}

const wish = { ordinal: 0, instance: "instance", grantedMounts: [], hostUid: 1000 };

function ownUid(changes: Partial<typeof wish>): number {
  const choice = containerUser({ ...wish, ...changes });
  return "user" in choice ? choice.user.uid : -1;
}

test("groups of one installation never share a user, and none is root, a person or the host", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(5_000), fc.nat(5_000), fc.nat(2_000_000_000), (instance, one, other, hostUid) => {
      fc.pre(one !== other);
      const base = ownUid({ instance });
      const uids = [one, other].map((ordinal) => ownUid({ instance, ordinal, hostUid }));
      const beside = [one, other].map((ordinal) => ownUid({ instance, ordinal, hostUid: base + one }));

      expect(new Set(uids).size).toBe(2);
      expect(new Set(beside).size).toBe(2);
      expect(uids).not.toContain(hostUid);
      expect(beside).not.toContain(base + one);
      for (const uid of [...uids, ...beside]) {
        expect(uid).toBeGreaterThanOrEqual(300_000);
        expect(uid).toBeLessThan(2 ** 31 - 1);
      }
    }),
  );
});

test("the same group gets the same user again, and another installation other users", () => {
  expect(ownUid({ ordinal: 3 })).toBe(ownUid({ ordinal: 3 }));
  expect(ownUid({ instance: "another" })).not.toBe(ownUid({}));
});

test("with writable mounts the user is their owner, read-only ones do not matter", () => {
  const grantedMounts = [mount("/srv/docs", 0, "ro"), mount("/srv/app", 1234)];

  expect(containerUser({ ...wish, grantedMounts })).toEqual({ user: { uid: 1234, gid: 1234 } });
});

test("an owner whose group is root's gets its own group", () => {
  const grantedMounts = [{ ...mount("/srv/app", 1234), gid: 0 }];

  expect(containerUser({ ...wish, grantedMounts })).toEqual({ user: { uid: 1234, gid: 1234 } });
});

test.each([
  ["of root", [mount("/srv/the app", 0)], 1000, /belongs to root/, "chown -R 1000:1000 '/srv/the app'"],
  ["of root, the host being root", [mount("/srv/app", 0)], 0, /belongs to root/, "chown -R 1000:1000 /srv/app"],
  [
    "of two owners",
    [mount("/srv/a", 1), mount("/srv/b", 2)],
    1000,
    /belongs to uid 2 and .* uid 1/,
    "chown -R 1:1 /srv/b",
  ],
  [
    "of root and another",
    [mount("/srv/a", 0), mount("/srv/b", 7)],
    1000,
    /\/srv\/a belongs to root/,
    "chown -R 7:7 /srv/a",
  ],
] as const)("writable mounts %s are refused with the command that helps", (...row) => {
  const [, grantedMounts, hostUid, reason, fix] = row;

  expect(containerUser({ ...wish, grantedMounts, hostUid })).toEqual({ refused: expect.stringMatching(reason), fix });
});

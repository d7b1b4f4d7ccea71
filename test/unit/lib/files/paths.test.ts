import * as fc from "fast-check";
import { expect, test } from "vitest";

import { foldName, isWithin } from "../../../../src/lib/files/paths.ts";
import { otherPathsOf, parseMountInfo } from "../../../../src/lib/files/mount-points.ts";
import { targetFault } from "../../../../src/sandbox/mounts/target.ts";

const anyName = fc.stringMatching(/^[a-z.]{1,6}$/).filter((text) => text !== "." && text !== "..");
const anyPath = fc.array(anyName, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`);

function names(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

test("a path is within a folder exactly when its components begin with the folder's", () => {
  fc.assert(
    fc.property(anyPath, anyPath, (one, other) => {
      const expected = names(other).every((part, index) => names(one)[index] === part);
      expect(isWithin(one, other)).toBe(expected);
    }),
  );
});

test("an accepted target always stays below the folder of extra mounts, as it is written", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", ".", "/", "\\", ":", " ", "\n", "é", "~") }), (target) => {
      if (targetFault(target, []) !== undefined) return;
      const resolved = new URL(`file:///extra/${encodeURI(target)}`).pathname;
      expect(decodeURI(resolved)).toBe(`/extra/${target}`);
      expect(target).not.toBe("");
    }),
    { numRuns: 2_000 },
  );
});

test("names that a folding file system takes for the same compare as equal, others do not", () => {
  expect(foldName(".SSH")).toBe(foldName(".ssh"));
  expect(foldName("cafe\u{301}")).toBe(foldName("CAF\u{C9}"));
  expect(foldName(".\u{FF53}sh")).toBe(foldName(".ssh"));
  expect(foldName(".s\u{200D}sh")).toBe(foldName(".ssh"));
  expect(foldName(".sshd")).not.toBe(foldName(".ssh"));
});

test("the mount table is read with its escapes, and tells where else a folder can be seen", () => {
  const mounts = parseMountInfo(
    [
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
      "40 22 8:1 /srv/a\\040b /mnt/copy ro,nosuid master:1 shared:7 - ext4 /dev/sda1 rw,errors=x",
      "41 22 0:5 / /proc rw - proc proc rw",
      "not a mount line",
      "",
    ].join("\n"),
  );

  expect(mounts).toHaveLength(3);
  expect(mounts[1]).toMatchObject({ root: "/srv/a b", target: "/mnt/copy", options: ["ro", "nosuid"], type: "ext4" });
  expect(otherPathsOf("/mnt/copy/x", mounts)).toEqual(["/srv/a b/x"]);
  expect(otherPathsOf("/srv/a b", mounts)).toEqual(["/mnt/copy"]);
  expect(otherPathsOf("/srv/a bc", mounts)).toEqual([]);
  expect(otherPathsOf("/proc/1", mounts)).toEqual([]);
});

import { join } from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { judgeMounts } from "../../../../src/sandbox/mounts/rules.ts";
import { pretendMachine } from "../../../support/pretend-machine.ts";

const good = "~/projects/app";

/** `[source, target, access asked, verdict, words of the reason]`; `T` stands for the temporary folder. */
const table: readonly (readonly [unknown, unknown, unknown, "rw" | "ro" | "denied", RegExp])[] = [
  [good, "app", undefined, "ro", /read-only below ~\/projects/],
  [good, "app", "ro", "ro", /read-only below/],
  [good, "app", "rw", "rw", /read-write below ~\/projects/],
  ["~/projects/app/src/deep", "deep", "rw", "rw", /read-write/],
  ["T/home/projects/app", "absolute", "rw", "rw", /read-write/],
  ["~/projects/app/", "slash", "rw", "rw", /read-write/],
  ["~/projects//app", "double-slash", "rw", "rw", /read-write/],
  ["~/projects/app/../app", "dots", "rw", "rw", /read-write/],
  ["~/projects/to-app", "link", "rw", "rw", /read-write/],
  ["~/elsewhere/to-app", "link-from-outside", "rw", "rw", /read-write/],
  ["~/docs", "docs", "ro", "ro", /read-only below ~\/docs/],
  ["~/docs", "docs", "rw", "ro", /instead of read-write.*~\/docs/],
  ["~/docs/handbook", "handbook", "rw", "ro", /instead of read-write/],
  ["~/docs/drafts/new", "new", "rw", "rw", /below ~\/docs\/drafts/],
  ["~/projects/mixed/public", "public", "rw", "ro", /mixed\/public read-only/],
  ["~/projects/mixed", "mixed", "rw", "ro", /contains ~\/projects\/mixed\/public/],
  ["~/projects/my.environment", "my.environment", "rw", "rw", /./],
  ["~/projects/..hidden", "..hidden", "rw", "rw", /./],
  ["~/projects/credentials-guide", "credentials-guide", "rw", "rw", /./],
  ["~/projects/ssh", "ssh", "rw", "rw", /./],
  ["~/projects/.sshd", ".sshd", "rw", "rw", /./],
  ["~/projects/config", "config", "rw", "rw", /./],
  ["~/projects/.configuration", ".configuration", "rw", "rw", /./],
  ["~/projects/my-secrets", "my-secrets", "rw", "rw", /./],
  ["~/projects/a:b", "colon-in-source", "rw", "rw", /./],
  ["~/projects/with blank", "with blank", "rw", "rw", /./],
  ["~/projects/überraschung", "überraschung", "ro", "ro", /./],
  ["~/projects/cafe\u{301}s", "cafés", "ro", "ro", /./],
  ["~/projects/linking", "linking", "ro", "ro", /./],
  [good, "a/b/c", "ro", "ro", /./],
  ["~", "home", "ro", "denied", /home/],
  ["T", "around", "ro", "denied", /contains/],
  ["/", "root", "ro", "denied", /contains/],
  ["/etc", "etc", "ro", "denied", /system folder/],
  ["/etc/ssl", "ssl", "ro", "denied", /inside \/etc/],
  ["/proc", "proc", "ro", "denied", /system folder/],
  ["/proc/self", "self", "ro", "denied", /inside \/proc/],
  ["/sys", "sys", "ro", "denied", /system folder/],
  ["/dev", "dev", "ro", "denied", /system folder/],
  ["/dev/shm", "shm", "ro", "denied", /inside \/dev/],
  ["/dev/null", "null", "ro", "denied", /is a device/],
  ["/root", "root", "ro", "denied", /\/root is|does not exist/],
  ["/run", "run", "rw", "denied", /system folder/],
  ["/var/run", "run", "rw", "denied", /\/run/],
  ["/var", "var", "ro", "denied", /contains/],
  ["/var/run/docker.sock", "docker.sock", "rw", "denied", /socket|not exist|inside/],
  ["~/projects2", "sibling", "ro", "denied", /not below any root/],
  ["~/projects2/app", "sibling-child", "ro", "denied", /not below any root/],
  ["~/elsewhere", "elsewhere", "ro", "denied", /not below any root/],
  ["~/projects/missing", "missing", "ro", "denied", /does not exist/],
  ["~/projects/dangling", "dangling", "ro", "denied", /does not exist/],
  ["~/does-not-exist", "nothing", "ro", "denied", /does not exist/],
  ["~/.ssh", "keys", "ro", "denied", /\.ssh/],
  ["~/projects/../.ssh", "keys", "ro", "denied", /\.ssh/],
  ["~/projects/to-ssh", "keys", "ro", "denied", /\.ssh/],
  ["~/projects/to-etc", "etc", "ro", "denied", /\/etc/],
  ["~/projects", "all", "ro", "denied", /contains/],
  ["~/projects/keyed", "keyed", "ro", "denied", /keyed\/sub\/\.ssh, a name that is known/],
  ["~/projects/shouting", "shouting", "ro", "denied", /\.SSH/],
  ["~/projects/.AWS/inner", "aws", "ro", "denied", /goes through \.AWS/],
  ["~/projects/.config/inner", "config", "ro", "denied", /goes through \.config/],
  ["~/projects/netrc", "netrc", "ro", "denied", /\.netrc/],
  ["~/projects/invisible", "invisible", "ro", "denied", /credentials/],
  ["~/projects/blocked", "blocked", "ro", "denied", /blocked in mounts\.json/],
  ["~/projects/secrets", "secrets", "ro", "denied", /blocked in mounts\.json/],
  ["~/projects/secrets/inner", "inner", "ro", "denied", /blocked in mounts\.json/],
  ["~/projects/accent", "accent", "ro", "denied", /blocked in mounts\.json/],
  ["~/.local/share/keyrings/x", "keyrings", "ro", "denied", /private data/],
  ["~/.local", "local", "ro", "denied", /private data/],
  ["~/.crabpot", "crabpot", "ro", "denied", /crabpot's own home/],
  ["~/.crabpot/groups/other", "other", "ro", "denied", /crabpot's own home/],
  ["T/checkout", "checkout", "ro", "denied", /crabpot's own program/],
  ["T/checkout/src", "src", "ro", "denied", /crabpot's own program/],
  ["~/projects/file.txt", "file", "ro", "denied", /is a file/],
  ["~/projects/pipe", "pipe", "ro", "denied", /is a FIFO/],
  ["projects/app", "relative", "ro", "denied", /neither absolute/],
  ["./projects", "relative", "ro", "denied", /neither absolute/],
  ["~root/x", "user", "ro", "denied", /neither absolute/],
  ["", "empty", "ro", "denied", /source/],
  ["~/projects/app\n", "line", "ro", "denied", /control/],
  ["~/projects/app\0", "nul", "ro", "denied", /control/],
  [undefined, "x", "ro", "denied", /source/],
  [42, "x", "ro", "denied", /source/],
  [["~/projects/app"], "x", "ro", "denied", /source/],
  [good, undefined, "ro", "denied", /target/],
  [good, 7, "ro", "denied", /target/],
  [good, "x", "RW", "denied", /access/],
  [good, "x", false, "denied", /access/],
  [good, "x", "false", "denied", /access/],
  [good, "", "ro", "denied", /empty/],
  [good, "   ", "ro", "denied", /empty/],
  [good, ".", "ro", "denied", /\. or \.\./],
  [good, "..", "ro", "denied", /\. or \.\./],
  [good, "../../../etc", "ro", "denied", /\. or \.\./],
  [good, "a/../b", "ro", "denied", /\. or \.\./],
  [good, "a/./b", "ro", "denied", /\. or \.\./],
  [good, "/etc", "ro", "denied", /relative/],
  [good, "/workspace/extra/app", "ro", "denied", /relative/],
  [good, "a//b", "ro", "denied", /empty part/],
  [good, "a/", "ro", "denied", /empty part/],
  [good, "a:rw", "ro", "denied", /colon/],
  [good, "a,b", "ro", "denied", /comma/],
  [good, "a\\b", "ro", "denied", /backslash/],
  [good, "a\nb", "ro", "denied", /control/],
  [good, "a\u{202E}b", "ro", "denied", /invisible/],
  [good, " a", "ro", "denied", /blank/],
  [good, "a/b ", "ro", "denied", /blank/],
  [good, "a".repeat(201), "ro", "denied", /longer/],
];

const machine = await pretendMachine();
afterAll(() => machine[Symbol.asyncDispose]());

describe("what a group gets of the folders it asks for", () => {
  test.each(table)("%j at %j asked %j is %s", async (...row) => {
    const [source, target, access, verdict, reason] = row;
    const asked = typeof source === "string" ? source.replace(/^T/, machine.path) : source;

    const [judged] = await judgeMounts([{ source: asked, target, access }], machine.context);

    expect(judged).toMatchObject({ verdict });
    expect(judged?.reason).toMatch(reason);
  });

  test.each([null, undefined, 7, "~/projects/app", [], {}, { source: good, target: "x", readonly: false }])(
    "the malformed request %j is denied without harming the others",
    async (request) => {
      const verdicts = await judgeMounts([request, { source: good, target: "app" }], machine.context);

      expect(verdicts.map((verdict) => verdict.verdict)).toEqual(["denied", "ro"]);
    },
  );

  test("a grant names the real folder, its owner and its identity", async () => {
    const [grant] = await judgeMounts([{ source: "~/projects/to-app", target: "app", access: "rw" }], machine.context);

    expect(grant).toMatchObject({
      source: "~/projects/to-app",
      target: "app",
      verdict: "rw",
      realPath: join(machine.path, "home/projects/app"),
      uid: process.getuid?.(),
      device: expect.stringMatching(/^\d+$/),
      inode: expect.stringMatching(/^\d+$/),
    });
  });
});

test("of two mounts with the same or a nested target, the second is denied by name", async () => {
  const verdicts = await judgeMounts(
    ["a", "a", "a/b", "c/d", "c", "ab"].map((target) => ({ source: good, target })),
    machine.context,
  );

  expect(verdicts.map((verdict) => verdict.verdict)).toEqual(["ro", "denied", "denied", "ro", "denied", "ro"]);
  expect(verdicts[1]?.reason).toContain("a is already taken");
  expect(verdicts[2]?.reason).toContain("overlaps with a ");
});

test("more than 32 mounts are denied", async () => {
  const verdicts = await judgeMounts(
    Array.from({ length: 34 }, (_, index) => ({ source: good, target: `t${index}` })),
    machine.context,
  );

  expect(verdicts.filter((verdict) => verdict.verdict === "denied").map((verdict) => verdict.target)).toEqual([
    "t32",
    "t33",
  ]);
});

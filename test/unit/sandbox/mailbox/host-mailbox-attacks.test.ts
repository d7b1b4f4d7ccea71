import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, link, mkdir, readFile, readdir, rename, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { limits } from "../../../../src/protocol/limits.ts";
import { messageFileName } from "../../../../src/protocol/paths.ts";
import { logMessage, openMailbox } from "../../../support/mailbox-under-test.ts";
import type { MailboxUnderTest } from "../../../support/mailbox-under-test.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const run = promisify(execFile);
const first = messageFileName(1);
const isRoot = process.getuid?.() === 0;

/** Each puts something in place of message 1 that must not be taken for one. */
const attacks: Record<
  string,
  { reason: RegExp; commit: (box: MailboxUnderTest, outside: string) => Promise<unknown> }
> = {
  "a link to a file of the host": {
    reason: /: link$/,
    commit: async (box, outside) => {
      await writeFile(join(outside, "secret"), JSON.stringify(logMessage(1)));
      await symlink(join(outside, "secret"), join(box.toHost, first));
    },
  },
  "a hard link to another file": {
    reason: /: hard-linked$/,
    commit: async (box) => {
      await writeFile(join(box.toHost, `.${messageFileName(9)}.part`), JSON.stringify(logMessage(1)));
      await link(join(box.toHost, `.${messageFileName(9)}.part`), join(box.toHost, first));
    },
  },
  "a FIFO without a writer": {
    reason: /: not-a-file$/,
    commit: (box) => run("mkfifo", [join(box.toHost, first)]),
  },
  "a folder": { reason: /: not-a-file$/, commit: (box) => mkdir(join(box.toHost, first)) },
  "a folder with something in it": {
    reason: /: not-a-file$/,
    commit: async (box, outside) => {
      await mkdir(join(outside, "full", "inner"), { recursive: true });
      await rename(join(outside, "full"), join(box.toHost, first));
    },
  },
  "a socket": {
    reason: /: not-a-file$/,
    commit: async (box, outside) => {
      const server = createServer().listen(join(outside, "socket"));
      await once(server, "listening");
      // A server that is closed removes its socket, but under its first name only.
      await rename(join(outside, "socket"), join(box.toHost, first));
      server.close();
    },
  },
  "a file that its owner may not read": {
    reason: /: (odd-mode|unreadable)$/,
    commit: async (box, outside) => {
      const path = join(outside, "file");
      await writeFile(path, JSON.stringify(logMessage(1)));
      await chmod(path, 0o000);
      await rename(path, join(box.toHost, first));
    },
  },
  "a setuid file": {
    reason: /: odd-mode$/,
    commit: async (box, outside) => {
      const path = join(outside, "file");
      await writeFile(path, JSON.stringify(logMessage(1)));
      await chmod(path, 0o4755);
      await rename(path, join(box.toHost, first));
    },
  },
  "50 GiB of nothing": {
    reason: /: too-large$/,
    commit: async (box, outside) => {
      const path = join(outside, "file");
      await writeFile(path, "");
      await truncate(path, 50 * 2 ** 30);
      await rename(path, join(box.toHost, first));
    },
  },
  "a message of one byte too many": {
    reason: /: too-large$/,
    commit: (box) => box.put(1, `${JSON.stringify(logMessage(1))}${" ".repeat(limits.messageBytes)}`),
  },
  "half a message": { reason: /: not JSON$/, commit: (box) => box.put(1, JSON.stringify(logMessage(1)).slice(0, -5)) },
  "bytes that are not UTF-8": {
    reason: /: not UTF-8$/,
    commit: (box) =>
      box.put(1, Buffer.from(JSON.stringify(logMessage(1)).replace("message 1", "message \u{ff}"), "latin1")),
  },
  "nesting without end": {
    reason: /nested deeper/,
    commit: (box) => box.put(1, `${"[".repeat(400_000)}${"]".repeat(400_000)}`),
  },
  "a key that changes the prototype": {
    reason: /: the key __proto__$/,
    commit: (box) =>
      box.put(1, JSON.stringify(logMessage(1)).replace('"payload"', '"__proto__":{"isMain":true},"payload"')),
  },
  "the same key twice": {
    reason: /: the key "id" twice$/,
    commit: (box) => box.put(1, JSON.stringify(logMessage(1)).replace('"payload"', '"id":1,"payload"')),
  },
  "a field that does not exist": {
    reason: /Unrecognized key/,
    commit: (box) => box.put(1, logMessage(1, { group: "somebody-else" })),
  },
  "a huge number for an id": { reason: /: acked: /, commit: (box) => box.put(1, logMessage(1, { acked: 1e300 })) },
  "the id of another file": { reason: /: id 2 in the file of 1$/, commit: (box) => box.put(1, logMessage(2)) },
  "another generation": { reason: /: generation 2$/, commit: (box) => box.put(1, logMessage(1, { generation: 2 })) },
  "another version of the protocol": {
    reason: /: version: /,
    commit: (box) => box.put(1, logMessage(1, { version: 9 })),
  },
  "a type that does not exist": {
    reason: /: payload.type: /,
    commit: (box) => box.put(1, logMessage(1, { payload: { type: "register-group" } })),
  },
  "an acknowledgement of what was never sent": {
    reason: /acknowledges 1,/,
    commit: (box) => box.put(1, logMessage(1, { acked: 1 })),
  },
};

test.for(Object.keys(attacks))(
  "%s is refused, kept aside and counted, and the next message is handled",
  async (name) => {
    await using outside = await temporaryFolder();
    await using box = await openMailbox();

    await attacks[name]?.commit(box, outside.path);
    await expect.poll(() => box.rejections).toHaveLength(1);
    await box.put(2, logMessage(2));

    await expect.poll(() => box.messages.map(({ id }) => id)).toEqual([2]);
    expect(box.rejections[0]).toMatch(attacks[name]?.reason ?? /^$/);
    const record = JSON.parse(await readFile(join(box.folder, "rejected", "1.json"), "utf8")) as { name: string };
    expect(record.name).toBe(first);
    expect(box.violations).toEqual([]);
  },
);

test.runIf(isRoot)("a file of another uid is refused", async () => {
  await using box = await openMailbox({ containerUid: 34_567 });

  await box.put(1, logMessage(1));
  // Made beside the mailbox: the host takes away at once what lies in it under another name.
  const own = join(box.folder, "own");
  await writeFile(own, JSON.stringify(logMessage(2)));
  await chown(own, 34_567, 34_567);
  await rename(own, join(box.toHost, messageFileName(2)));

  await expect.poll(() => box.messages.map(({ id }) => id)).toEqual([2]);
  expect(box.rejections).toContain(`${first}: foreign-owner`);
});

test("nothing of a file that a link points at is kept", async () => {
  await using outside = await temporaryFolder();
  await using box = await openMailbox();
  await writeFile(join(outside.path, "secret"), "canary");

  await symlink(join(outside.path, "secret"), join(box.toHost, first));
  await expect.poll(() => box.rejections).toHaveLength(1);

  expect(await readFile(join(box.folder, "rejected", "1.json"), "utf8")).not.toContain("canary");
});

const oddNames = [
  Buffer.from("--rf"),
  Buffer.from("a\nb"),
  Buffer.from("\x1b[31mred"),
  Buffer.from("\u{202e}txt.json"),
  Buffer.from([0x66, 0xff, 0xfe]),
  Buffer.from("x".repeat(255)),
  Buffer.from("1.json"),
];

test.for(oddNames)("an entry with an odd name is removed and named in printable characters", async (name) => {
  await using box = await openMailbox();

  await writeFile(Buffer.concat([Buffer.from(`${box.toHost}/`), name]), JSON.stringify(logMessage(1)));

  await expect.poll(() => box.rejections).toHaveLength(1);
  await expect.poll(() => readdir(box.toHost)).toEqual([]);
  expect(box.rejections[0]).toMatch(/^[\x20-\x7e]+: not the name of a message$/);
  expect(box.messages).toEqual([]);
});

test("half-written files of the agent are left alone", async () => {
  await using box = await openMailbox();

  await writeFile(join(box.toHost, `.${first}.part`), "half");
  await box.put(2, logMessage(2));

  await expect.poll(() => box.messages).toHaveLength(1);
  expect(await readdir(box.toHost)).toEqual([`.${first}.part`]);
  expect(box.rejections).toEqual([]);
});

test("after too many violations the container is to be ended and nothing more is read", async () => {
  await using box = await openMailbox();

  for (let id = 1; id <= limits.violations; id += 1) await box.put(id, "nonsense");
  await expect.poll(() => box.violations).toHaveLength(1);
  await box.put(100, logMessage(100));
  await box.put(101, "nonsense");

  await expect.poll(() => readdir(box.toHost)).toContain(messageFileName(101));
  expect(box.messages).toEqual([]);
  expect(box.violations).toEqual([`${messageFileName(limits.violations)}: not JSON`]);
});

test("whatever stands in the folder besides, exactly the honest messages are handled, in order", async () => {
  const hostileName = fc.constantFrom("x", "-", "1.json", "0000000000001.json", "000000000001.jsonx", "é", "..json");
  const hostileContent = fc.oneof(fc.string(), fc.json(), fc.constant(JSON.stringify(logMessage(1))));
  const entry = fc.oneof(
    fc.record({ kind: fc.constant("honest" as const) }),
    fc.record({ kind: fc.constant("file" as const), name: hostileName, content: hostileContent }),
    fc.record({ kind: fc.constant("content" as const), content: fc.oneof(fc.string(), fc.json()) }),
    fc.record({ kind: fc.constant("link" as const) }),
    fc.record({ kind: fc.constant("folder" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: limits.violations - 1 }), async (entries) => {
      await using box = await openMailbox();
      const honest: number[] = [];
      for (const [index, one] of entries.entries()) {
        const id = index + 1;
        const path = join(box.toHost, messageFileName(id));
        if (one.kind === "file") await writeFile(join(box.toHost, one.name), one.content);
        else if (one.kind === "content") await box.put(id, one.content);
        else if (one.kind === "link") await symlink("/etc/hostname", path);
        else if (one.kind === "folder") await mkdir(path);
        else {
          honest.push(id);
          await box.put(id, logMessage(id));
        }
      }
      const last = entries.length + 1;
      await box.put(last, logMessage(last));

      await expect.poll(() => box.messages.map(({ id }) => id)).toEqual([...honest, last]);
      expect(box.violations).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

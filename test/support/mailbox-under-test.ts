import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { pino } from "pino";

import { protocolVersion } from "../../src/protocol/version.ts";
import type { AgentMessage } from "../../src/protocol/messages.ts";
import { messageFileName } from "../../src/protocol/paths.ts";
import { HostMailbox } from "../../src/sandbox/mailbox/host-mailbox.ts";
import type { HostMailboxOptions } from "../../src/sandbox/mailbox/host-mailbox.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A real mailbox of the host, and the agent's end of it in the hands of a test. */
export interface MailboxUnderTest extends AsyncDisposable {
  readonly mailbox: HostMailbox;
  readonly folder: string;
  readonly toHost: string;
  readonly toAgent: string;
  readonly messages: AgentMessage[];
  readonly rejections: string[];
  readonly violations: string[];
  /** Writes a file as an honest agent does: whole, then renamed. */
  put(id: number, content: unknown): Promise<void>;
}

export const generation = 3;

export async function openMailbox(overrides: Partial<HostMailboxOptions> = {}): Promise<MailboxUnderTest> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const folder = overrides.folder ?? join(path, "mail", String(generation));
  const uid = process.getuid?.() ?? 0;
  const messages: AgentMessage[] = [];
  const rejections: string[] = [];
  const violations: string[] = [];
  const mailbox = await HostMailbox.open({
    folder,
    generation,
    firstId: 1,
    containerUid: uid,
    hostUid: uid,
    onMessage: (message) => void messages.push(message),
    onRejected: (reason) => void rejections.push(reason),
    onViolation: (reason) => void violations.push(reason),
    logger: pino({ level: "silent" }),
    ...overrides,
  });
  stack.use(mailbox);
  const toHost = join(folder, "to-host");
  const owned = stack.move();
  return {
    mailbox,
    folder,
    toHost,
    toAgent: join(folder, "to-agent"),
    messages,
    rejections,
    violations,
    put: async (id, content) => {
      const temporary = join(toHost, `.${messageFileName(id)}.part`);
      await writeFile(
        temporary,
        typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content),
      );
      await rename(temporary, join(toHost, messageFileName(id)));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A message that is in order in every respect but those overridden. */
export function logMessage(id: number, overrides: Record<string, unknown> = {}): Record<string, unknown> {
  const payload = { type: "log", level: "info", text: `message ${id}` };
  return { version: protocolVersion, id, generation, acked: 0, payload, ...overrides };
}

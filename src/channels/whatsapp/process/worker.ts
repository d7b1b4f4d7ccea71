import type { HostCalls, WorkerCalls } from "./calls.ts";
import { IpcPeer } from "./ipc.ts";
import { WhatsAppSession } from "../worker/session.ts";

/*
 * The process that talks to WhatsApp. It has no files and no settings of its own: everything comes from the host and
 * goes back to it, and it ends with the host. What the library prints goes nowhere; only calls cross over.
 */

const heartbeatMs = Number(process.argv[2]);
let session: Promise<WhatsAppSession | undefined> | undefined;

async function running(): Promise<WhatsAppSession> {
  const started = await session;
  if (!started) throw new Error("there is no session");
  return started;
}

const calls: WorkerCalls = {
  start: async (order) => {
    session ??= WhatsAppSession.start(host, order);
    await session;
  },
  send: async (order) => (await running()).send(order),
  typing: async (order) => (await running()).typing(order),
  markRead: async (messages) => (await running()).markRead(messages),
  group: async (chat) => (await running()).group(chat),
  lidsOf: async (pns) => (await running()).lidsOf(pns),
  mediaHosts: async () => (await running()).mediaHosts(),
  probe: async () => (await running()).probe(),
  end: async () => (await session)?.end(),
};

const host: IpcPeer<WorkerCalls, HostCalls> = new IpcPeer({ send: post }, calls);

function post(message: object): boolean {
  if (process.connected) process.send?.(message);
  return process.connected;
}

/** What kind of error was thrown, and where; it is logged. */
function failed(thrown: unknown): string {
  const { name, stack = "" } = thrown instanceof Error ? thrown : new Error("no error was thrown");
  // Not its message: that may hold what it failed with.
  const place = /\(?([^()\s]+:\d+:\d+)\)?$/m.exec(stack)?.[1] ?? "an unknown place";
  const text = `${name} at ${place.replace(/^.*\/(?=[^/]+\/[^/]+$)/, "")}`;
  host.tell("log", { level: "warn", text });
  return text;
}

process.on("message", (message) => host.receive(message));
process.on("disconnect", () => process.exit(0));
process.on("unhandledRejection", (error) => void failed(error));
process.on("uncaughtException", (error) => {
  host.tell("crashed", failed(error));
  process.exit(1);
});
setInterval(() => host.tell("heartbeat", undefined), heartbeatMs);

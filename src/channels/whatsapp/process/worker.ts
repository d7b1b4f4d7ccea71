import { serveHost } from "../../../processes/inside.ts";
import { whatsappWorker } from "../../../processes/protocol.ts";
import { type WhatsAppHost, WhatsAppSession } from "../worker/session.ts";

/*
 * The process that talks to WhatsApp. It has no files and no settings: everything comes from the host and goes back to
 * it. What the library prints goes nowhere; only calls cross over.
 */

let session: Promise<WhatsAppSession | undefined> | undefined;

async function running(): Promise<WhatsAppSession> {
  const started = await session;
  if (!started) throw new Error("there is no session");
  return started;
}

const host: WhatsAppHost = serveHost({
  protocol: whatsappWorker,
  answers: {
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
  },
  listeners: {},
  onEnd: async () => (await session)?.end(),
  onError: (place) => host.tell("log", { level: "warn", text: place }),
});

import type { SocketConfig } from "@whiskeysockets/baileys";
import type * as z from "zod";

import type { whatsappWorker } from "../../../processes/protocol.ts";

/** Data that a template may have inserted between words. */
const data = /(?<![\w+/=@.:-])[\w+/=@.:-]*\d{5}[\w+/=@.:-]*|[A-Za-z0-9+/=]{24,}/g;

type LogEntry = z.output<typeof whatsappWorker.host.news.log>;

const ignore = (): void => undefined;

/** The library logs keys, messages and whole stanzas: only the fixed words of its warnings are passed on. */
export function quietLogger(write: (entry: LogEntry) => void): SocketConfig["logger"] {
  const say = (_data: unknown, text?: string): void => {
    if (typeof text === "string") write({ level: "debug", text: text.replaceAll(data, "…").slice(0, 160) });
  };
  const logger: SocketConfig["logger"] = {
    level: "warn",
    child: () => logger,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: say,
    error: say,
  };
  return logger;
}

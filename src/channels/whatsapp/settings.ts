import * as z from "zod";

/** `channels.whatsapp`: an account that is linked as a further device. The last three are for tests and for trouble. */
export const whatsAppSettings = z.strictObject({
  phoneNumber: z
    .string()
    .regex(/^\d{6,15}$/, "the account's number, digits only, with the country code")
    .optional()
    .describe("Link with a code that is typed on the phone, not with a QR code."),
  readReceipts: z.boolean().default(true).describe("Send read receipts for messages that the agent has answered."),
  pacing: z
    .strictObject({
      perChatPerSecond: z.number().positive().max(1000).default(1),
      perMinute: z.number().min(1).max(100_000).default(20),
    })
    .prefault({})
    .describe("Maximum speed of sending messages."),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, "such as 2.3000.1043857760")
    .optional()
    .describe("Version of WhatsApp Web that the host claims."),
  webSocketUrl: z
    .url({ protocol: /^wss?$/ })
    .refine(
      (url) => url.startsWith("wss:") || isLoopbackHost(new URL(url).hostname),
      "ws: only to this machine; use wss:",
    )
    .optional(),
  rootPublicKey: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "64 hex digits")
    .optional()
    .describe("Server certificate to trust instead of WhatsApp's."),
});

export type WhatsAppSettings = z.output<typeof whatsAppSettings>;

/** True for a loopback host name, as `URL` gives it. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

import * as z from "zod";

import { type ChannelState, channelStates, type LoginEvent, type LoginOptions } from "../../channels/channel.ts";
import { AppError } from "../../lib/app-error.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { defineOperation, defineStream } from "../definition/define-operation.ts";
import { list, name, nothing, time } from "../definition/schemas.ts";

/** A channel as the operator's commands need it. `login` is there only where an account has to be linked. */
export interface OperableChannel {
  readonly name: string;
  state(): ChannelState;
  login?(signal: AbortSignal, loginOptions?: LoginOptions): AsyncIterable<LoginEvent>;
}

/** The running channels. */
export interface ChannelNeeds {
  readonly channels: readonly OperableChannel[];
}

/** A channel and its state. */
export const channelView = z.strictObject({
  name: z.string(),
  state: z.enum(channelStates),
  since: time,
  detail: z.string().optional(),
});

export type ChannelView = z.infer<typeof channelView>;

const loginEvent: z.ZodType<LoginEvent> = z.union([
  z.strictObject({ qr: z.string() }),
  z.strictObject({ pairingCode: z.string() }),
  z.strictObject({ state: z.enum(channelStates), detail: z.string().optional() }),
]);

export const listChannels = defineOperation<ChannelNeeds>()({
  name: "channels.list",
  summary: "list channels and their states",
  input: nothing,
  output: list(channelView),
  may: { scope: "read" },
  effect: "none",
  rest: "GET /channels",
  listAs: "channels",
  cli: {
    table: [{ field: "name", title: "channel" }, "state", "since", "detail"],
    none: () => "No channel is running.",
  },
  run: async ({ channels }) => channels.map(viewChannel),
});

/** Rejects with `not_found` for a channel that does not run. */
export const loginChannel = defineStream<ChannelNeeds>()({
  name: "channels.login",
  summary: "link a channel to an account",
  input: z.strictObject({
    name,
    phone: z
      .string()
      .transform((text) => text.replaceAll(/[\s+()-]/g, ""))
      .pipe(z.string().regex(/^\d{6,15}$/, "digits only"))
      .optional()
      .describe("link with a code for this phone number instead of a QR code"),
  }),
  output: loginEvent,
  may: { scope: "admin" },
  effect: "change",
  isLong: true,
  cli: { args: ["name"] },
  follow: async function* ({ channels }, { name: wanted, phone: phoneNumber }, { signal }) {
    const channel = findChannel(channels, wanted);
    let last: LoginEvent = { state: channel.state().state, detail: `The channel ${wanted} needs no login.` };
    if (!channel.login) yield last;
    else for await (last of channel.login(signal, { phoneNumber })) yield last;
    if ("state" in last && last.state === "open") return;
    throw new AppError("unauthorized", `The channel ${wanted} is not linked.`, { fix: ownCommand("channels list") });
  },
});

/** A channel as the operator sees it. */
export function viewChannel(channel: OperableChannel): ChannelView {
  return { name: channel.name, ...channel.state() };
}

/** Returns the running channel of this name. Throws `not_found`. */
export function findChannel(channels: readonly OperableChannel[], wanted: string): OperableChannel {
  const channel = channels.find((candidate) => candidate.name === wanted);
  if (channel !== undefined) return channel;
  const names = channels.map((candidate) => candidate.name).join(", ") || "none";
  throw new AppError("not_found", `The channel "${wanted}" is not running; running: ${names}.`, {
    fix: "Channels are configured under `channels` in config.yaml.",
  });
}

/** Operations on channels. */
export const channelOperations = [listChannels, loginChannel] as const;

/**
 * The public interface for code from outside (`import … from "crabpot/plugin"`), and all of it: everything else may
 * change.
 */
export * as z from "zod";

export { ConnectionEnd, SendError } from "../channels/channel.ts";
export type {
  AcceptMessage,
  Channel,
  ChannelEvents,
  ChannelState,
  Connection,
  ConnectionHost,
  Connector,
  Receipt,
} from "../channels/channel.ts";
export { defineChannel } from "../channels/define-channel.ts";
export type { ChannelDefinition, ChannelPorts, ChannelTraits } from "../channels/define-channel.ts";
export type {
  IncomingMessage,
  OutgoingMessage,
  OutgoingQuote,
  OutgoingReaction,
  ProgressLine,
} from "../domain/chats/message.ts";
export type { ModelAnswer, ModelMessage } from "../domain/turns/model.ts";
export { describeParts, partsOf } from "../domain/chats/part.ts";
export type { Part } from "../domain/chats/part.ts";
export { defineProvider } from "../models/define-provider.ts";
export type { ProviderDefinition, ProviderPorts } from "../models/define-provider.ts";
export { ToolError } from "../protocol/tools.ts";
export { definePluginTool as defineTool } from "./define-plugin-tool.ts";
export type { HostTool } from "../tools/define-tool.ts";
export { ProviderError } from "../models/provider.ts";
export type { Provider, ProviderRequest } from "../models/provider.ts";

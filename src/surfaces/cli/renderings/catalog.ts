import type { Output } from "../output.ts";

/** Prints an answer where a table, a sentence or its fields are not enough. */
type Rendering = (output: Output, answer: never, given: never) => void;

/** By the name of the operation. Only the one that is needed is loaded. */
export const renderings: Readonly<Record<string, () => Promise<Rendering>>> = {
  "config.apply": async () => (await import("./settings.ts")).showSettingReport,
  "config.diff": async () => (await import("./settings.ts")).showDifferences,
  "config.edit": async () => (await import("./settings.ts")).showSettingReport,
  "config.get": async () => (await import("./settings.ts")).showSetting,
  "config.history": async () => (await import("./settings.ts")).showHistory,
  "config.set": async () => (await import("./settings.ts")).showSettingReport,
  "config.unset": async () => (await import("./settings.ts")).showSettingReport,
  "events.tail": async () => (await import("./event.ts")).showEvent,
  "groups.set": async () => (await import("./settings.ts")).showSettingReport,
  "groups.unset": async () => (await import("./settings.ts")).showSettingReport,
  "people.forget": async () => (await import("./erasure.ts")).showErasure,
  "people.look": async () => (await import("./erasure.ts")).showErasure,
  status: async () => (await import("./status.ts")).showStatus,
  "approvals.show": async () => (await import("./approval.ts")).showWholeApproval,
  "channels.login": async () => (await import("./login.ts")).showLogin,
  "context.show": async () => (await import("./context.ts")).showContextWindow,
  "turns.list": async () => (await import("./turns.ts")).showTurnList,
  usage: async () => (await import("./usage.ts")).showUsage,
  "turns.show": async () => (await import("./turns.ts")).showReport,
};

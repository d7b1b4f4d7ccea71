import type { Output } from "../output.ts";

/** Prints an answer where a table, a sentence or its fields are not enough. */
type Rendering = (output: Output, answer: never, given: never) => void;

/** By the name of the operation. Only the one that is needed is loaded. */
export const renderings: Readonly<Record<string, () => Promise<Rendering>>> = {
  status: async () => (await import("./status.ts")).showStatus,
  "approvals.show": async () => (await import("./approval.ts")).showWholeApproval,
  "channels.login": async () => (await import("./login.ts")).showLogin,
  "context.show": async () => (await import("./context.ts")).showContextWindow,
  "turns.list": async () => (await import("./turns.ts")).showTurnList,
  "turns.show": async () => (await import("./turns.ts")).showReport,
};

import type { BudgetLimits, Group, RequestSettlement } from "../domain/group.ts";
import type { OutgoingDraft } from "../domain/message.ts";
import type { PendingCommand, SetAside, UsageStore } from "../stores/store.ts";

/** What members can ask of the host in the chat, without the model. */
export interface ChatCommand {
  /** In lower case letters; people write it behind a slash. */
  readonly name: string;
  /** What it does, in a few words for `/help`. */
  readonly help: string;
  /** What stands behind it, such as `CODE [name]`; absent: it stands alone. */
  readonly takes?: string | undefined;
  /** Who may: everybody in a group, or those who write in a main group. */
  readonly for: "members" | "operator";
  /** What comes of it. Called again for the same message as long as that was not written, so it must not do anything twice. */
  run(given: GivenCommand, services: CommandServices): Promise<CommandOutcome>;
}

/** A command that somebody gave in a group. */
export interface GivenCommand {
  readonly group: Group;
  readonly pending: PendingCommand;
  /** All that can be given there. */
  readonly commands: readonly ChatCommand[];
}

/** What is going to happen, all at once. */
export interface CommandOutcome {
  /** The host's answer; a function where it depends on what is stopped. */
  readonly text: string | ((found: SetAside) => string);
  /** Ends what runs in the group and drops what waits there. */
  readonly stops?: boolean | undefined;
  /** The session that begins a new conversation. */
  readonly renews?: string | undefined;
  /** What is said in other chats. */
  readonly outgoing?: readonly OutgoingDraft[] | undefined;
  /** A request of a chat that is answered with it. */
  readonly settles?: RequestSettlement | undefined;
}

/** What commands are carried out with. */
export interface CommandServices {
  readonly assistantName: string;
  /** The group's main session. */
  readonly sessionOf: (group: Group) => Promise<{ readonly id: string }>;
  /** What a member may know of how things stand, a few lines. */
  readonly describe: (group: Group) => Promise<string>;
  /** What calls of models have used: the same figures as `crabpot usage`. */
  readonly usageSums: UsageStore["sums"];
  /** What a group may use in a day, and what all groups together may. */
  readonly budgetsOf: (group: Group) => { readonly group: BudgetLimits; readonly total: BudgetLimits };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What comes of `/approve` or `/deny`. */
  readonly answer: (pending: PendingCommand) => Promise<CommandOutcome>;
}

import type { Group, RequestSettlement } from "../domain/group.ts";
import type { OutgoingDraft } from "../domain/message.ts";
import type { SettingChange } from "../domain/setting.ts";
import type { PendingCommand, SetAside } from "../stores/store.ts";

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

/** What somebody wants a group to have. */
export interface WantedSetting {
  readonly group: string;
  readonly key: string;
  readonly value: string;
  /** The id of who wants it, on their channel. */
  readonly by: string;
}

export interface ChatSetting {
  readonly path: string;
  readonly value: unknown;
  readonly from: string;
}

export interface ChatMount {
  readonly target: string;
  readonly source: string;
  readonly verdict: "ro" | "rw" | "denied";
  /** Which kind of rule refused it. */
  readonly rule?: string;
  readonly reason: string;
}

/** What commands are carried out with. */
export interface CommandServices {
  readonly assistantName: string;
  /** The group's main session. */
  readonly sessionOf: (group: Group) => Promise<{ readonly id: string }>;
  /** What a member may know of how things stand, a few lines. */
  readonly describe: (group: Group) => Promise<string>;
  /** Changes a setting of a group; the value is YAML. What changed and when it holds; nothing where it was so already. Rejects with AppErrors. */
  readonly changeSetting: (wanted: WantedSetting) => Promise<readonly SettingChange[]>;
  /** Every setting of a group, secrets masked, and where it comes from. Rejects with `not_found`. */
  readonly settingsOf: (group: string) => Promise<readonly ChatSetting[]>;
  /** What each folder that the group asks for would get now. */
  readonly mountsOf: (group: Group) => Promise<readonly ChatMount[]>;
  /** What comes of `/approve` or `/deny`. */
  readonly answer: (pending: PendingCommand) => Promise<CommandOutcome>;
}

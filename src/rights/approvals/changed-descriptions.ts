import type { Group } from "../../domain/chats/group.ts";
import type { Actor } from "../../domain/people/actor.ts";
import type { NewApproval } from "../../domain/rights/approval.ts";
import { newCode } from "../../domain/rights/code.ts";
import { isAtLeast, type Role } from "../../domain/people/role.ts";
import type { Publish } from "../../domain/events/event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { unifiedDiff } from "../../lib/text/unified-diff.ts";
import type { Store } from "../../stores/contract/store.ts";
import type { ToolPolicy } from "../../domain/rights/policy.ts";
import { judgeCall } from "../policy/judge.ts";
import { digestInput } from "./asking.ts";
import { cardText } from "./card.ts";
import type { AllowedChange } from "./proposals.ts";
import { noticeIn } from "./words.ts";

const codeLength = 6;
/** A server that has something else to say all day is not worth more questions. */
const mostInADay = 10;
const dayMs = 24 * 3_600_000;

/** A tool's description of itself, with its digest. */
interface Said {
  readonly sha256: string;
  readonly text: string;
}

/** A tool of a server that says something else of itself than people know of. */
export interface ChangedDescription {
  readonly server: string;
  /** Name given by the server and used by models. */
  readonly name: string;
  readonly fullName: string;
  readonly before: Said;
  readonly now: Said;
  /** More was said than is kept, so that not all of it can be looked at. */
  readonly isCut: boolean;
}

export interface ChangedDescriptionsOptions {
  readonly store: Pick<Store["approvals"], "ask" | "list">;
  readonly settings: () => { readonly expiresMinutes: number; readonly approvers: Role };
  readonly groups: { list(): readonly Group[] };
  /** The first group that has a server; it lists the approval where no main group can be asked. */
  readonly groupWith: (server: string) => string;
  /** The policy of a group. */
  readonly policyOf: (group: string) => ToolPolicy;
  /** True when cards on this channel can be answered by a thumb. */
  readonly byThumb: (channel: string) => boolean;
  /** True when somebody in the group's chat has this role. */
  readonly isThere: (group: Group, role: Role) => Promise<boolean>;
  /** Takes over what a tool says, if that is what this hash is of; false: it is not. */
  readonly allow: (server: string, name: string, sha256: string) => Promise<boolean>;
  /** A tool's changed description that nobody has allowed yet. */
  readonly pendingOf: (server: string, name: string) => Promise<Said | undefined>;
  readonly asked: () => void;
  readonly publish: Publish<"approval.asked" | "mcp.allowed">;
  readonly deliver: () => void;
  readonly randomBelow: (limit: number) => number;
  readonly clock: Pick<Clock, "now">;
}

/** Subject of such an approval. */
interface About {
  readonly server: string;
  readonly name: string;
  readonly before: string;
  readonly sha256: string;
  readonly cut?: true;
}

/**
 * Asks people about tools of servers that describe themselves anew: once for each change, in no turn. What they allow
 * is what they were shown.
 */
export class ChangedDescriptions {
  readonly #options: ChangedDescriptionsOptions;

  constructor(options: ChangedDescriptionsOptions) {
    this.#options = options;
  }

  /** `group`: whose server it is; undefined where groups share it. */
  async ask(changed: readonly ChangedDescription[], group: string | undefined): Promise<void> {
    for (const one of changed) await this.#ask(one, group);
    this.#options.deliver();
    this.#options.asked();
  }

  /** The one that is open about exactly this. */
  async openFor(server: string, name: string, sha256: string): Promise<string | undefined> {
    const open = await this.#options.store.list({ state: "open", limit: 1_000 });
    const found = open.find((approval) => {
      if (approval.about !== "description") return false;
      const about = read(approval.input);
      return about.server === server && about.name === name && about.sha256 === sha256;
    });
    return found?.code;
  }

  /** It says something else by now, or was allowed in another way. */
  async isMoot({ input }: Pick<NewApproval, "input">): Promise<boolean> {
    const { server, name, sha256 } = read(input);
    return (await this.#options.pendingOf(server, name))?.sha256 !== sha256;
  }

  /** Takes over what was shown, once, also when it is called again after a crash. */
  async write({ content, actor, isBegun, begin }: AllowedChange): Promise<"written" | "changed"> {
    const { server, name, sha256 } = read(content);
    const { allow, publish } = this.#options;
    if (!isBegun) {
      if (await this.isMoot({ input: content })) return "changed";
      await this.#announce({ server, name, sha256, actor }, publish);
      await begin();
    }
    return (await allow(server, name, sha256)) ? "written" : "changed";
  }

  async #announce(
    { actor, ...data }: Pick<About, "server" | "name" | "sha256"> & { readonly actor: Actor },
    publish: ChangedDescriptionsOptions["publish"],
  ): Promise<void> {
    await publish({ type: "mcp.allowed", actor, data });
  }

  async #ask(changed: ChangedDescription, ofGroup: string | undefined): Promise<void> {
    const { store, groups, groupWith, settings, isThere, byThumb, publish, clock } = this.#options;
    // The descriptions are for agents of any group: main groups judge them, and without one the operator.
    const main = groups.list().find((one) => one.main);
    const group = main?.name ?? ofGroup ?? groupWith(changed.server);
    const { expiresMinutes: minutes } = settings();
    const approval = this.#questionOf(changed, group, minutes);
    const { code, call, tool, sha256, risk, rule, asker, approvers, quorum, expiresAt } = approval;
    const canAnswerHere = main !== undefined && (await isThere(main, approvers));
    const text = cardText(approval, { minutes, canAnswerHere, byThumb: main !== undefined && byThumb(main.channel) });
    const card = main && noticeIn({ group, channel: main.channel, chat: main.chat, turn: undefined }, text);
    const limit = { most: mostInADay, since: clock.now() - dayMs };
    // On record first, and once: what was asked before is not asked again.
    if (await this.#isAskedEnough(approval)) return;
    const data = { code, call, tool, sha256, risk, rule, asker: asker.id, approvers, quorum, expiresAt };
    await publish({ type: "approval.asked", group, actor: "host", data });
    await store.ask({ group, approval, card, limit });
  }

  async #isAskedEnough({ tool, sha256, asker }: NewApproval): Promise<boolean> {
    const known = await this.#options.store.list({ about: "description", limit: 1_000 });
    const now = this.#options.clock.now();
    if (known.some((one) => one.tool === tool && one.sha256 === sha256)) return true;
    return known.filter((one) => one.asker.id === asker.id && one.askedAt > now - dayMs).length >= mostInADay;
  }

  #questionOf(changed: ChangedDescription, group: string, minutes: number) {
    const { settings, policyOf, clock, randomBelow } = this.#options;
    const { server, name, fullName, before, now, isCut } = changed;
    const call = { tool: fullName, input: {}, risk: "high", role: "guest", origins: ["mcp"] } as const;
    const { quorum = 1, approvers: least = settings().approvers } = judgeCall(call, policyOf(group)).verdict;
    const about: About = {
      server,
      name,
      before: before.sha256,
      sha256: now.sha256,
      ...(isCut && { cut: true as const }),
    };
    const askedAt = clock.now();
    return {
      code: newCode(codeLength, randomBelow),
      about: "description",
      call: "",
      tool: fullName,
      ...digestInput(about),
      risk: "high",
      rule: "a changed description",
      asker: { id: `mcp:${server}`, name: `the MCP server ${server}`, role: "guest" },
      // Whoever writes what a tool says of itself speaks to the agent in all conversations.
      approvers: isAtLeast(least, "admin") ? least : "admin",
      quorum,
      askedAt,
      expiresAt: askedAt + minutes * 60_000,
      change: { diff: unifiedDiff(before.text, now.text), base: before.sha256 },
    } as const;
  }
}

function read(input: string): About {
  return JSON.parse(input) as About;
}

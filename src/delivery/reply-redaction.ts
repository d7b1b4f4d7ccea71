import type { Logger } from "pino";

import type { NewEvent, Publish } from "../domain/events/event.ts";
import { toError } from "../lib/app-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { hideThoughts } from "./hide-thoughts.ts";
import type { TellOperator } from "./operator-notices.ts";
import { createReplyPatterns, createReplyRedaction } from "./redact.ts";
import type { Redacted } from "./redact.ts";
import type { SecretPatterns } from "../lib/secrets/secret-stream.ts";
import { answerPieces, outputPieces, type TextPieces } from "./text-pieces.ts";

/** Secrets that are taken out of a group's texts in a day (UTC) before the operator is told. */
const redactionsPerDay = 3;
/** Characters of a vendor's key that cannot be guessed. */
const unguessable = 20;

/** A value that must not be said, where it stands in the configuration, and what for. */
export interface KnownSecret {
  readonly value: string;
  readonly path: string;
  /** Group that may use the secret; undefined: none. */
  readonly group?: string | undefined;
  readonly use: string;
}

/** Author of the text. */
interface Scope {
  readonly group: { readonly name: string };
  readonly session: { readonly id: string };
  readonly turn: { readonly id: string };
}

/** Words on their way to a chat. */
export interface ReplyFormats {
  /** An agent's answer as it goes to the chat; empty when there is nothing to send. */
  readonly formatReply: (text: string, scope: Scope) => string;
  /** The same for words of the host's own, such as why a turn failed. */
  readonly formatNotice: (text: string, scope: Scope) => string;
  /**
   * Returns the part of an unfinished answer that a chat may see: without an end in which a secret could have begun in
   * any form. Its length does not depend on the content, so it reveals nothing.
   */
  readonly beginningOf: (text: string, group: string) => string;
  /** The same for an answer, and for what a tool prints, while they come, for those who operate the host. */
  readonly piecesOf: (group: string) => { readonly answer: () => TextPieces; readonly output: () => TextPieces };
}

/** Minimum held-back characters of an unfinished answer. */
const leastHeldBack = 64;

interface RedactionOptions {
  /** Secrets known now. */
  readonly secrets: () => readonly KnownSecret[];
  /** Calls it when they have changed. */
  readonly onChange: (changed: () => void) => void;
  /** The home's folder, hidden from chats. */
  readonly homeFolder: string;
  readonly tell: TellOperator;
  readonly publish: Publish<"reply.redacted" | "secret.said">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/**
 * Cleans texts for chats. An agent's words lose its own group's secrets and vendors' keys, which nobody guesses. A
 * likely gateway token or other group's secret stays: no container knows one, and removing it would confirm a guess; an
 * alarm is raised out of members' sight. The host's own words lose all secrets.
 */
export function createReplyFormats(options: RedactionOptions): ReplyFormats {
  let all = allRules(options.secrets());
  // What was a secret stays one: it may be in a conversation, or still be accepted somewhere.
  options.onChange(() => (all = allRules([...all.secrets, ...options.secrets()])));
  const alarm = new SecretAlarm(options);
  return {
    formatReply: (text, scope) => {
      const { redactOwn, findOthers, others } = all.of(scope.group.name);
      const said = hideThoughts(text);
      if (findOthers(said).count > 0) alarm.shown(said, others, scope);
      const redacted = redactOwn(said);
      if (redacted.count > 0) alarm.redacted(redacted.count, scope);
      return redacted.text;
    },
    formatNotice: (text, scope) => {
      // Where the home is concerns nobody in a chat; the reason of a failure may name it.
      const redacted = all.redact(hideThoughts(text).replaceAll(options.homeFolder, "(home)"));
      if (redacted.count > 0) alarm.redacted(redacted.count, scope);
      return redacted.text;
    },
    beginningOf: (text, group) => {
      const { redactOwn, ownPatterns } = all.of(group);
      const { text: shown } = redactOwn(hideThoughts(text));
      // Twice: with a blank behind every letter.
      const heldBack = Math.max(leastHeldBack, 2 * ownPatterns().longest);
      return shown.slice(0, Math.max(0, shown.length - heldBack)).trimEnd();
    },
    piecesOf: (group) => {
      const { ownPatterns } = all.of(group);
      return { answer: () => answerPieces(ownPatterns()), output: () => outputPieces(ownPatterns()) };
    },
  };
}

interface AllRules {
  readonly secrets: readonly KnownSecret[];
  readonly redact: (text: string) => Redacted;
  readonly of: (group: string) => GroupRules;
}

function allRules(found: readonly KnownSecret[]): AllRules {
  const secrets = [...new Map(found.map((secret) => [JSON.stringify([secret.path, secret.value]), secret])).values()];
  const rules = new Map<string, GroupRules>();
  const of = (group: string): GroupRules => {
    const known = rules.get(group) ?? rulesFor(group, secrets);
    rules.set(group, known);
    return known;
  };
  return { secrets, redact: createReplyRedaction(secrets.map(({ value }) => value)), of };
}

function isVendors({ use }: KnownSecret): boolean {
  return use === "provider" || use === "channel";
}

interface GroupRules {
  readonly redactOwn: (text: string) => Redacted;
  /** Secrets of the group, loaded when somebody watches. */
  readonly ownPatterns: () => SecretPatterns;
  readonly others: readonly KnownSecret[];
  readonly findOthers: (text: string) => Redacted;
}

function rulesFor(group: string, secrets: readonly KnownSecret[]): GroupRules {
  const isTakenOut = (secret: KnownSecret): boolean =>
    secret.group === group || (isVendors(secret) && secret.value.length >= unguessable);
  const own = new Set(secrets.filter(isTakenOut).map(({ value }) => value));
  const others = secrets.filter(({ value }) => !own.has(value));
  let patterns: SecretPatterns | undefined;
  return {
    redactOwn: createReplyRedaction([...own]),
    ownPatterns: () => (patterns ??= createReplyPatterns([...own])),
    others,
    findOthers: createReplyRedaction(others.map(({ value }) => value)),
  };
}

/** Tells of secrets in texts. The text does not wait for it: whether there is one must not be felt in the chat. */
class SecretAlarm {
  readonly #options: RedactionOptions;
  #day = -1;
  readonly #redactions = new Map<string, number>();
  readonly #shown = new Set<string>();

  constructor(options: RedactionOptions) {
    this.#options = options;
  }

  redacted(count: number, scope: Scope): void {
    this.#beginDay();
    const group = scope.group.name;
    this.#options.logger.error(
      { group, turn: scope.turn.id },
      "a known secret was about to be sent to a chat; it was removed",
    );
    const about = { group, session: scope.session.id, turn: scope.turn.id };
    this.#publish({ type: "reply.redacted", ...about, actor: "host", data: { count } });
    const before = this.#redactions.get(group) ?? 0;
    this.#redactions.set(group, before + count);
    if (before > redactionsPerDay || before + count <= redactionsPerDay) return;
    const text = `The agent of group ${group} was about to send secrets ${before + count} times today; they were removed. Somebody may be guessing values: see the records of type redaction.`;
    this.#options.tell({ text });
  }

  shown(text: string, secrets: readonly KnownSecret[], scope: Scope): void {
    setImmediate(() => this.#nameShown(text, secrets, scope));
  }

  #nameShown(text: string, secrets: readonly KnownSecret[], scope: Scope): void {
    this.#beginDay();
    const group = scope.group.name;
    const found = secrets.filter(({ value }) => createReplyRedaction([value])(text).count > 0).map(({ path }) => path);
    this.#options.logger.error(
      { group, turn: scope.turn.id, found },
      "an agent said a secret that it has no access to; the text was sent unchanged",
    );
    const about = { group, session: scope.session.id, turn: scope.turn.id };
    this.#publish({ type: "secret.said", actor: "host", data: { ...about, count: found.length, found } });
    if (this.#shown.has(group)) return;
    this.#shown.add(group);
    const what = found.join(", ");
    this.#options.tell({
      text: `The agent of group ${group} said a secret of this host in its chat: ${what}. It was told or guessed it. Replace that secret.`,
      hiddenFrom: group,
    });
  }

  #publish(event: NewEvent<"reply.redacted" | "secret.said">): void {
    const { publish, logger } = this.#options;
    publish(event).catch((error: unknown) =>
      logger.error({ error: toError(error) }, "a redaction could not be recorded"),
    );
  }

  #beginDay(): void {
    const day = Math.floor(this.#options.clock.now() / 86_400_000);
    if (day === this.#day) return;
    this.#day = day;
    this.#redactions.clear();
    this.#shown.clear();
  }
}

import type { Approval, Asker, NewApproval } from "../../../domain/rights/approval.ts";
import { newCode } from "../../../domain/rights/code.ts";
import type { FilledForm, FormRequest, FormValue } from "../../../domain/rights/form.ts";
import type { Origin } from "../../../domain/people/origin.ts";
import type { Group } from "../../../domain/chats/group.ts";
import type { Publish } from "../../../domain/events/event.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { Store } from "../../../stores/contract/store.ts";
import { digestInput } from "../asking.ts";
import { describeDecision, noticeIn, noticesIn } from "../words.ts";
import { type FilledIn, fillIn } from "./fill-in.ts";
import { formCard, type FormWanted, type KeptForm } from "./form-card.ts";
import { readForm } from "./form-fields.ts";
import { asksSecret } from "./secret-words.ts";

const codeLength = 6;
const messageChars = 1_000;
const urlChars = 1_000;
/** Questions of one server in a group within an hour, and at once. */
const mostInAnHour = 20;
const hourMs = 3_600_000;
/** Longest wait, whatever the settings: calls have a limit, too. */
const mostMinutes = 30;

/** Reason why a server's question is refused, for the server. */
export class FormRefusal extends Error {}

/** The turn whose call has made the server ask. */
export interface FormTurn {
  readonly group: Group;
  readonly session: string;
  readonly turn: string;
}

export interface FormsOptions {
  readonly store: Pick<Store["approvals"], "ask" | "cancel" | "get">;
  readonly settings: () => { readonly expiresMinutes: number };
  readonly askerOf: (group: Group, turn: string) => Promise<Asker>;
  /** The turn has read words of these origins. */
  readonly note: (turn: string, origins: readonly Origin[]) => Promise<void>;
  readonly asked: () => void;
  readonly publish: Publish<"approval.asked">;
  readonly deliver: () => void;
  readonly randomBelow: (limit: number) => number;
  readonly clock: Pick<Clock, "now">;
}

interface Waiting {
  readonly wanted: FormWanted;
  readonly settle: (filled: FilledForm) => void;
}

/** Servers' questions during calls. They exist in memory only: when the host ends, the call has ended, too. */
export class Forms {
  readonly #options: FormsOptions;
  /** By code. */
  readonly #waiting = new Map<string, Waiting>();
  /** Servers that ask in a group at this moment, also while that is being written. */
  readonly #asking = new Set<string>();

  constructor(options: FormsOptions) {
    this.#options = options;
  }

  /** True when a form waits for an answer. */
  get areAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  isAwaited(code: string): boolean {
    return this.#waiting.has(code);
  }

  /**
   * Puts it to the people of the turn's chat and waits for what they say. Rejects with a FormRefusal for what is not
   * put to them.
   */
  async ask(place: FormTurn, request: FormRequest, signal: AbortSignal): Promise<FilledForm> {
    const wanted = readWanted(request);
    const key = JSON.stringify([place.group.name, request.server]);
    if (this.#asking.has(key)) throw new FormRefusal("people are asked one question at a time");
    this.#asking.add(key);
    try {
      return await this.#ask(
        place,
        { ...wanted, server: request.server, message: request.message },
        { request, signal },
      );
    } finally {
      this.#asking.delete(key);
    }
  }

  /** Parses an answer to a waiting form; undefined when no form has this code. */
  read(code: string, said: string): FilledIn | undefined {
    const wanted = this.#waiting.get(code)?.wanted;
    if (!wanted) return undefined;
    const fields = "fields" in wanted ? wanted.fields : [];
    return fields.length === 0 && agreement.test(said.trim()) ? { content: {} } : fillIn(fields, said);
  }

  /** Completes a form after the decision. */
  fill(code: string, content: Record<string, FormValue>): void {
    const waiting = this.#waiting.get(code);
    waiting?.settle("fields" in waiting.wanted ? { action: "accept", content } : { action: "accept" });
  }

  /** It was decided in another way. */
  settled({ code, state, decider, reason }: Approval): void {
    if (state === "allowed" || state === "open") return;
    const isDeclined = state === "denied" && decider !== undefined && reason !== cancelWord;
    this.#waiting.get(code)?.settle({ action: isDeclined ? "decline" : "cancel" });
  }

  async #ask(
    { group, session, turn }: FormTurn,
    form: KeptForm,
    { request, signal }: { readonly request: FormRequest; readonly signal: AbortSignal },
  ): Promise<FilledForm> {
    signal.throwIfAborted();
    const { store, publish, deliver, asked, note, clock } = this.#options;
    const { approval, minutes } = await this.#questionOf({ group, turn }, form, request.tool);
    const { code, call, tool, sha256, risk, rule, asker, approvers, quorum, expiresAt } = approval;
    const { name, channel, chat, acting } = group;
    const card = {
      ...noticeIn({ group: name, channel, chat, turn }, formCard(approval, form, minutes)),
      agent: acting?.name,
    };
    const data = { code, call, tool, sha256, risk, rule, asker: asker.id, approvers, quorum, expiresAt };
    await publish({ type: "approval.asked", group: name, session, turn, actor: "host", data });
    const filled = Promise.withResolvers<FilledForm>();
    this.#waiting.set(code, { wanted: form, settle: filled.resolve });
    try {
      const limit = { most: mostInAnHour, since: clock.now() - hourMs };
      if ((await store.ask({ group: name, approval, card, limit })) !== "asked")
        throw new FormRefusal(`people are asked at most ${mostInAnHour} questions of a server in an hour`);
      deliver();
      asked();
      const answer = await Promise.race([filled.promise, ended(signal)]);
      // What people have filled in comes back by the server's result.
      const decider = answer.action === "accept" ? (await store.get(code))?.decider : undefined;
      if (decider) await note(turn, [decider.role]);
      return answer;
    } finally {
      this.#waiting.delete(code);
      if (signal.aborted) await this.#takeBack(code);
    }
  }

  /** The call has ended while people were asked. */
  async #takeBack(code: string): Promise<void> {
    const { store, clock, deliver, asked } = this.#options;
    const approval = await store.get(code);
    if (approval?.state !== "open") return;
    const text = describeDecision({ ...approval, state: "cancelled" });
    if (await store.cancel(code, clock.now(), noticesIn(approval, text))) deliver();
    asked();
  }

  async #questionOf({ group, turn }: Pick<FormTurn, "group" | "turn">, form: KeptForm, tool: string) {
    const { settings, askerOf, clock, randomBelow } = this.#options;
    const minutes = Math.min(settings().expiresMinutes, mostMinutes);
    const askedAt = clock.now();
    const approval: NewApproval & { readonly about: "form" } = {
      code: newCode(codeLength, randomBelow),
      about: "form",
      call: "",
      tool,
      ...digestInput(form),
      risk: "medium",
      rule: "a question of an MCP server",
      asker: await askerOf(group, turn),
      approvers: "admin",
      quorum: 1,
      askedAt,
      expiresAt: askedAt + minutes * 60_000,
    };
    return { approval, minutes };
  }
}

/** Word that cancels a form. */
export const cancelWord = "cancel";

const agreement = /^(?:yes|ok|okay|accept|done|)$/i;

function readWanted({ message, wants, mayAskText }: FormRequest): FormWanted {
  if (message.length > messageChars) throw new FormRefusal(`a question may have ${messageChars} characters`);
  if ("url" in wants && asksSecret(message))
    throw new FormRefusal("passwords, keys, cards and other secrets are never asked for here");
  if ("url" in wants) return { url: checkUrl(wants.url) };
  const read = readForm(wants.schema, { message, mayAskText });
  if (typeof read === "string") throw new FormRefusal(read);
  return read;
}

/** An address that looks like what it is. */
function checkUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" || url.username !== "" || url.password !== "" || url.href.length > urlChars)
    throw new FormRefusal(`an address begins with https:// and has at most ${urlChars} characters`);
  return url.href;
}

function ended(signal: AbortSignal): Promise<FilledForm> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ action: "cancel" }), { once: true });
  });
}

import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { AppError } from "../../src/lib/app-error.ts";
import type { AuditRecord } from "../../src/records/audit/record.ts";
import { askControl } from "./control.ts";
import type { CommandEnd } from "./commands.ts";
import type { AttackedHost } from "./host.ts";
import { type AttackCall, AttackModel, type ShownToModel } from "./model.ts";
import { OwnHome } from "./own-host.ts";
import type { Stage } from "./stage.ts";
import { isSoon, longestWaitMs, waitFor } from "./waiting.ts";

/** Speaker in a chat. */
export interface Speaker {
  readonly id: string;
  readonly name: string;
}

export const boss: Speaker = { id: "boss", name: "Boss" };
export const mallory: Speaker = { id: "mallory", name: "Mallory" };

/** Result of a turn. */
export interface RememberingTurn {
  readonly outputs: readonly string[];
  readonly shown: ShownToModel | undefined;
}

/** A host whose groups remember, and how many attacks have had groups of it. */
interface Life {
  readonly home: OwnHome;
  readonly host: AttackedHost;
  readonly model: AttackModel;
  attacks: number;
}

/**
 * By how many messages it draws facts after. Lived once for all attacks on a stage: its start takes longer than most of
 * them.
 */
const lives = new WeakMap<Stage, Map<number, Promise<Life>>>();

/** Maximum attacks with groups on one host. */
const mostAttacks = 16;

function lifeOn(stage: Stage, everyMessages: number): Promise<Life> {
  const ofStage = lives.get(stage) ?? new Map<number, Promise<Life>>();
  lives.set(stage, ofStage);
  const known = ofStage.get(everyMessages) ?? beginLife(stage, everyMessages);
  ofStage.set(everyMessages, known);
  return known;
}

/** It ends with the stage. */
async function beginLife(stage: Stage, everyMessages: number): Promise<Life> {
  const home = await OwnHome.open(stage);
  const model = await AttackModel.start();
  stage.ownHosts.add(model);
  await home.configure(configOf(model.url, everyMessages));
  return { home, host: await home.start(), model, attacks: 0 };
}

/**
 * Groups of an attack's own that remember: `red` is the attacker's, `blue` a bystander's, `office` a main group, `pair`
 * has two agents.
 */
export class Remembering {
  readonly #home: OwnHome;
  readonly #host: AttackedHost;
  readonly #model: AttackModel;
  readonly #token: string;
  readonly #attack: number;
  readonly #begun: number;

  private constructor({ home, host, model }: Life, options: { token: string; attack: number; begun: number }) {
    this.#home = home;
    this.#host = host;
    this.#model = model;
    this.#token = options.token;
    this.#attack = options.attack;
    this.#begun = options.begun;
  }

  /** Number of messages after which facts are extracted; 0: never. */
  static async during<T>(stage: Stage, use: (remembering: Remembering) => Promise<T>, everyMessages = 0): Promise<T> {
    const life = await lifeOn(stage, everyMessages);
    const attack = life.attacks++;
    const begun = (await life.home.records()).at(-1)?.seq ?? 0;
    return use(new Remembering(life, { token: stage.canaries.token, attack, begun }));
  }

  /** Name of one of the groups on the host. */
  nameOf(group: string): string {
    return nameOf(group, this.#attack);
  }

  /** Says something and waits for the answer. */
  async ask(group: string, text: string, sender: Speaker = mallory, id: string = randomUUID()): Promise<void> {
    const status = await this.#home.say(this.#host, this.nameOf(group), { id, sender, text });
    if (status !== 202) throw new AppError("bad_input", `The message was refused with ${status}.`);
    const end = AbortSignal.timeout(longestWaitMs);
    for (let after = 0; !end.aborted;) {
      const replies = await this.#replies(after);
      if (replies.some(({ inReplyTo }) => inReplyTo.includes(id))) return;
      after = replies.at(-1)?.seq ?? after;
    }
    throw new AppError("not_found", "There was no answer.");
  }

  /** Has the group's agent make tool calls, one after another. `text` is said with it. */
  async calls(
    group: string,
    calls: readonly AttackCall[],
    sender: Speaker = mallory,
    text = "",
  ): Promise<RememberingTurn> {
    const name = this.#model.prepare({ rounds: calls.map((call) => [call]), say: "done" });
    await this.ask(group, `${text} ${name}`, sender);
    const shown = this.#model.shown(name);
    return { outputs: shown?.toolOutputs ?? [], shown };
  }

  /**
   * The same, again and again until the model is shown memories: a turn does not wait long for them, so on a busy
   * machine it may begin without.
   */
  async recalls(group: string, calls: readonly AttackCall[], sender: Speaker, text: string): Promise<RememberingTurn> {
    const recalled = await waitFor(async () => {
      const turn = await this.calls(group, calls, sender, text);
      return turn.shown?.lastUser.includes("<memories") === true ? turn : undefined;
    });
    if (recalled === undefined) throw new AppError("not_found", `The group ${group} recalls nothing at "${text}".`);
    return recalled;
  }

  /** Says this, to which every model that is shown it answers so, knowing what the message is called. */
  async answers(group: string, text: string, answer: (message: string) => string): Promise<void> {
    const id = randomUUID();
    await this.ask(group, `${text} ${this.#model.prepare({ rounds: [], say: answer(id) })}`, mallory, id);
  }

  /** Waits until the group remembers something with these words. */
  async remembered(group: string, words: string): Promise<void> {
    const isListed = async (): Promise<boolean> => (await this.list(group)).includes(words);
    if (!(await isSoon(isListed, 100))) {
      throw new AppError("not_found", `The group ${group} does not remember "${words}".`);
    }
  }

  /** All that a group remembers, as JSON lines. */
  async list(group: string): Promise<string> {
    const memories = await askControl(this.#home.path, "memory.list", { group: this.nameOf(group), limit: 200 });
    return (memories as readonly object[]).map((memory) => JSON.stringify(memory)).join("\n");
  }

  /** Files of the home that hold this word, by their paths in it. */
  async holding(word: string): Promise<string[]> {
    const entries = await readdir(this.#home.path, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const holding: string[] = [];
    for (const path of files)
      if ((await readFile(path).catch(() => Buffer.alloc(0))).includes(word)) holding.push(path);
    return holding.map((path) => relative(this.#home.path, path));
  }

  async command(...args: readonly string[]): Promise<CommandEnd> {
    return this.#home.command(...args);
  }

  /** Records since the attack began. */
  async records(type: AuditRecord["type"]): Promise<AuditRecord[]> {
    return (await this.#home.records(type)).filter(({ seq }) => seq > this.#begun);
  }

  async #replies(after: number): Promise<{ readonly seq: number; readonly inReplyTo: readonly string[] }[]> {
    const url = `${this.#host.url}/v1/channels/http/replies?after=${after}&wait=5`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${this.#token}`, connection: "close" } });
    return ((await answer.json()) as { replies: { seq: number; inReplyTo: string[] }[] }).replies;
  }
}

function nameOf(group: string, attack: number): string {
  return `${group}-${attack}`;
}

function configOf(modelUrl: string, everyMessages: number): object {
  const members = { default: "guest", "http:boss": "admin" };
  const group = (chat: string, more: object = {}) => ({ channel: "http", chat, trigger: "always", members, ...more });
  const kinds = {
    red: { policy: { rules: [{ tool: "send_message", origin: "guest", action: "deny" }] } },
    blue: {},
    pair: { agents: ["main", "scout"] },
    office: { main: true },
  };
  const names = Array.from({ length: mostAttacks }, (_, attack) =>
    Object.entries(kinds).map(([kind, more]) => [nameOf(kind, attack), group(nameOf(kind, attack), more)] as const),
  );
  return {
    groups: Object.fromEntries(names.flat()),
    models: {
      routes: { main: ["attacker/model"] },
      providers: { attacker: { kind: "openai", apiKey: "attacker-key", baseUrl: modelUrl } },
    },
    agents: { scout: { instructions: "You look things up." } },
    memory: { enabled: true, embeddings: "none", extract: { everyMessages }, global: { read: "all" } },
    limits: { turnsPerHour: 0, loopTurns: 0 },
    intake: { perSenderPerMinute: 10_000 },
  };
}

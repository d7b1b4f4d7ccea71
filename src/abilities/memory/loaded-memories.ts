import { type Group, workFolder } from "../../domain/chats/group.ts";
import type { Sourced } from "../../domain/rights/sourced.ts";
import type { ComingTurn } from "../../domain/turns/foreword.ts";
import type { CallingTurn } from "../define-ability.ts";
import type { MemorySettings } from "./config.ts";
import { HomeMemories } from "./thread/home-memories.ts";
import { globalNotes } from "./item.ts";
import { MemoryFaults } from "./keeping/faults.ts";
import { MemoryWriter } from "./keeping/memory-writer.ts";
import { Recall } from "./keeping/recall.ts";
import { Upkeep } from "./keeping/upkeep.ts";
import { type MemoryPort, memoryPort } from "./memory-port.ts";
import type { MemoryServiceNeeds } from "./memory-needs.ts";
import type { MemoryAt } from "./thread/memory-client.ts";

/** Memories that are in use: what is said is kept, looked up, drawn together and cleaned. */
export class LoadedMemories implements AsyncDisposable {
  /** The memory of this group or agent's folder, whether groups remember things or not. */
  readonly at: (folder: string) => MemoryAt;
  readonly #needs: MemoryServiceNeeds;
  readonly #memories: HomeMemories;
  readonly #upkeep: Upkeep;
  readonly #writer: MemoryWriter;
  readonly #recall: Recall;

  constructor(needs: MemoryServiceNeeds, settings: () => MemorySettings) {
    this.#needs = needs;
    const { groups, groupWithAgent, messageIdOf, fingerprint } = needs;
    const memories = new HomeMemories(needs, settings);
    this.#memories = memories;
    this.at = memories.at;
    const faults = new MemoryFaults(needs.publish, needs.logger);
    const idOf = (row: string): string => {
      const [kind, seq] = row.split(" ");
      return kind === "message" ? messageIdOf(Number(seq)) : fingerprint(row).sha256.slice(0, 12);
    };
    this.#upkeep = new Upkeep(needs, memories);
    this.#writer = new MemoryWriter({
      ...needs,
      groups: () => (settings().enabled ? groups.list() : []),
      memoryOf: memories.at,
      withEachAgent: (group) => group.agents?.map((agent) => groupWithAgent(group, agent)) ?? [group],
      idOf,
      kept: (group, standing) => this.#upkeep.kept(group, standing),
      faults,
    });
    this.#recall = new Recall({ ...needs, memories, idOf, faults });
  }

  /** Takes in what was said while nobody listened. */
  takeInAll(): void {
    this.#writer.all();
  }

  /** Something may have been said in this group. */
  said(group: string): void {
    this.#writer.said(group);
  }

  /** Prepares a memory for a text that a turn is about to see. */
  foresee(folder: string, text: string): void {
    this.#recall.foresee(folder, text);
  }

  /** Memories that fit what is said. */
  foreword(coming: ComingTurn): Promise<Sourced | undefined> {
    return this.#recall.of(coming);
  }

  /** Draws facts from what was said in the group so far. Never rejects. */
  async extract(group: Group, signal: AbortSignal): Promise<void> {
    await this.#writer.keep(group.name);
    await this.#upkeep.extract(group, signal);
  }

  /** Memories for a call of a tool in this turn. */
  portFor(scope: CallingTurn): MemoryPort {
    const { group } = scope;
    const usable = {
      memory: this.at(workFolder(group)),
      notes: () => this.#memories.globalFor(group),
      ownNotes: group.main ? () => this.at(globalNotes) : undefined,
    };
    return memoryPort(this.#needs, usable, scope);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer[Symbol.asyncDispose]();
    await this.#upkeep[Symbol.asyncDispose]();
    await this.#memories[Symbol.asyncDispose]();
  }
}

import { type Group, workFolder } from "../../domain/chats/group.ts";
import type { ProposedChange } from "../../domain/rights/approval.ts";
import type { Session } from "../../domain/turns/session.ts";
import { unifiedDiff } from "../../lib/text/unified-diff.ts";
import type { AllowedChange, Proposals } from "../../rights/approvals/proposals.ts";
import type { Instructions } from "../../sandbox/workspace/instructions.ts";
import type { Store } from "../../stores/contract/store.ts";
import { proposeInstructions } from "./propose-instructions.ts";

export interface InstructionProposalOptions {
  readonly instructions: Pick<Instructions, "current" | "replace">;
  readonly sessions: Pick<Store["sessions"], "get">;
  readonly groups: { byName(name: string): Group | undefined };
  readonly agentGroups: {
    /** Returns the name of the folder in which the agent of this session works. */
    folderOfSession(group: Group, session: Session): string;
  };
}

/** Proposed changes of instructions: those by which the agent works that proposes them. */
export class InstructionProposals implements Proposals {
  readonly #options: InstructionProposalOptions;

  constructor(options: InstructionProposalOptions) {
    this.#options = options;
  }

  async changeOf(group: Group, input: unknown): Promise<ProposedChange> {
    const { text, sha256 } = await this.#options.instructions.current(workFolder(group));
    return { diff: unifiedDiff(text, textIn(input)), base: sha256 };
  }

  async faultOf(group: Group, input: unknown): Promise<string | undefined> {
    const { diff } = await this.changeOf(group, input);
    return diff === "" ? "AGENTS.md says exactly this already: there is nothing to change." : undefined;
  }

  async write({ group: name, session: id, ...change }: AllowedChange): Promise<"written" | "changed"> {
    const { instructions, sessions, groups, agentGroups } = this.#options;
    const session = id === undefined ? undefined : await sessions.get(id);
    const group = groups.byName(name);
    const folder = group && session ? agentGroups.folderOfSession(group, session) : name;
    return instructions.replace(folder, { ...change, content: textIn(JSON.parse(change.content)) });
  }
}

function textIn(input: unknown): string {
  return String(proposeInstructions.input.parse(input)["content"]);
}

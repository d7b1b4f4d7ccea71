import type { NewApproval } from "../../src/domain/rights/approval.ts";
import type { OutgoingDraft } from "../../src/domain/chats/message.ts";
import type { NewStep, Store } from "../../src/stores/contract/store.ts";
import { byMessage, draft, step } from "../contracts/store-setup.ts";

const halfAnHourMs = 30 * 60_000;

/** Ann has the agent run `ls`, and an admin is asked for half an hour. */
export function question(more: Partial<NewApproval> & Pick<NewApproval, "askedAt">): NewApproval {
  return {
    code: "AAAAAA",
    call: "1",
    tool: "shell",
    input: '{"command":"ls"}',
    sha256: "x",
    risk: "low",
    rule: "default",
    asker: { id: "terminal:ann", name: "Ann", role: "member" },
    approvers: "admin",
    quorum: 1,
    expiresAt: more.askedAt + halfAnHourMs,
    ...more,
  };
}

/** Has turn `t` of group `family` ask these, each with a card. */
export async function askIn(
  store: Store,
  questions: readonly NewApproval[],
  more: Partial<Pick<NewStep, "exposure">> & {
    readonly card?: Partial<OutgoingDraft>;
    /** The agent whose turn it is. */
    readonly agent?: string | undefined;
  } = {},
): Promise<void> {
  const { card, agent = "main", ...ofStep } = more;
  const at = questions[0]?.askedAt ?? 0;
  const { id: session } = await store.sessions.open(`${agent}:terminal:chat`, "family");
  await store.turns.begin({ id: "t", session, group: "family", conversation: 1, ...byMessage, at }, step("hello"));
  const asks = questions.map((approval) => ({ approval, card: draft(`May I? ${approval.code}`, card) }));
  await store.turns.addStep("t", { ...step("asked"), ...ofStep, asks });
}

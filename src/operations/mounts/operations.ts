import * as z from "zod";

import { accesses } from "../../domain/chats/group.ts";
import type { MountVerdict } from "../../sandbox/mounts/rules.ts";
import { defineOperation } from "../definition/define-operation.ts";
import { list, name } from "../definition/schemas.ts";
import { listPlanted } from "./list-planted.ts";
import { reviewOperations } from "./review-operations.ts";

/** A folder that a group asks for, as it is judged: the rule that decides, and for a grant the root of mounts.json. */
const mountView = z.strictObject({
  source: z.string(),
  target: z.string(),
  verdict: z.enum([...accesses, "denied"]),
  rule: z.string(),
  root: z.string().optional(),
  realPath: z.string().optional(),
  protectedPaths: list(z.string()).optional(),
  secrets: list(z.string()).optional(),
  reason: z.string(),
});

type MountView = z.infer<typeof mountView>;

/** The part that judges mounts: by the same rules, from the same files, as when a container is started. */
export interface MountNeeds {
  readonly mounts: {
    /** Rejects with `not_found`. */
    judge(group: string): Promise<readonly MountVerdict[]>;
  };
}

export const checkGroupMounts = defineOperation<MountNeeds>()({
  name: "mounts.check",
  summary: "judge the mounts of a group",
  input: z.strictObject({ group: name }),
  output: list(mountView),
  may: { scope: "read", role: "member" },
  effect: "none",
  // Also what a running host has not read yet.
  offline: "files",
  cli: {
    help: "judge the mounts of a group; exit 1 if one is denied",
    args: ["group"],
    table: [
      "source",
      { title: "target", of: ({ target }) => `/workspace/extra/${target}` },
      "verdict",
      "rule",
      "root",
      "reason",
    ],
    none: ({ group }) => `The group ${group} has no mounts.`,
    fails: (mounts) => mounts.some(({ verdict }) => verdict === "denied"),
  },
  chat: {
    form: "/mounts",
    say: (mounts, { group }) =>
      mounts.map((mount) => describeMount(mount, group.main)).join("\n") ||
      "I can use only the group's own folder here.",
  },
  run: async ({ mounts }, { group }) => (await mounts.judge(group)).map(viewVerdict),
});

const granted = { ro: "read only", rw: "read and write", review: "changes wait for people" } as const;

/** Only the operator may know where they are. */
function describeMount({ target, source, verdict, rule, reason }: MountView, isMain: boolean): string {
  const from = isMain ? `, from ${source}` : "";
  if (verdict !== "denied") return `${target}: ${granted[verdict]}${from}`;
  return `${target}: refused${from} (${isMain ? reason : `rule: ${rule}`})`;
}

function viewVerdict(verdict: MountVerdict): MountView {
  const { source, target, reason } = verdict;
  if (verdict.verdict === "denied") return { source, target, verdict: verdict.verdict, rule: verdict.rule, reason };
  const { root, realPath, secrets } = verdict;
  const protectedPaths = (verdict.protect ?? []).map(({ path }) => path);
  return { source, target, verdict: verdict.verdict, rule: "root", root, realPath, protectedPaths, secrets, reason };
}

/** Operations on mounts. */
export const mountOperations = [checkGroupMounts, listPlanted, ...reviewOperations] as const;

import { chown, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { engineVariables, openPlayground, writeHome } from "../suite/host.ts";
import type { Stage } from "../suite/stage.ts";

const owner = 1234;

interface Wish {
  readonly source: string;
  readonly access: "ro" | "rw";
  readonly shared?: boolean;
}

type Sharing = readonly [name: string, mounts: readonly [Wish, Wish], refused: boolean];

/** Folders are below `projects` of the user's home. */
const sharings: readonly Sharing[] = [
  [
    "both write",
    [
      { source: "app", access: "rw" },
      { source: "app", access: "rw" },
    ],
    true,
  ],
  [
    "one reads",
    [
      { source: "app", access: "ro" },
      { source: "app", access: "rw" },
    ],
    true,
  ],
  [
    "nested",
    [
      { source: "app/src", access: "rw" },
      { source: "app", access: "ro" },
    ],
    true,
  ],
  [
    "around",
    [
      { source: "app", access: "ro" },
      { source: "app/src", access: "rw" },
    ],
    true,
  ],
  [
    "by a link",
    [
      { source: "to-app", access: "rw" },
      { source: "app", access: "ro" },
    ],
    true,
  ],
  [
    "by a link above",
    [
      { source: "to-projects/app/src", access: "rw" },
      { source: "app", access: "ro" },
    ],
    true,
  ],
  [
    "by dots",
    [
      { source: "app/src/..", access: "rw" },
      { source: "app", access: "ro" },
    ],
    true,
  ],
  [
    "only one agrees",
    [
      { source: "app", access: "rw", shared: true },
      { source: "app", access: "rw" },
    ],
    true,
  ],
  [
    "both agree",
    [
      { source: "app", access: "ro", shared: true },
      { source: "app", access: "ro", shared: true },
    ],
    false,
  ],
  [
    "both read",
    [
      { source: "app", access: "ro" },
      { source: "app", access: "ro" },
    ],
    false,
  ],
  [
    "neighbours",
    [
      { source: "app", access: "ro" },
      { source: "app2", access: "rw" },
    ],
    false,
  ],
];

interface ToldVerdict {
  readonly target: string;
  readonly verdict: string;
  readonly rule: string;
  readonly reason: string;
}

/** Verdicts on the mounts of one of two groups that want folders at the same time; each pair has separate folders. */
async function verdictsOf(
  stage: Stage,
): Promise<{ readonly code: number | null; readonly told: readonly ToldVerdict[] }> {
  await using playground = await openPlayground(
    engineVariables(stage.playground.environment),
    stage.playground.userHome,
  );
  const { home, userHome, environment } = playground;
  const projects = join(userHome, "projects");
  for (const index of sharings.keys()) await makeFolders(join(projects, String(index)));
  const mountsOf = (group: number): object[] =>
    sharings.map(([, mounts], index) => {
      const { source, ...rest } = mounts[group as 0 | 1];
      return { ...rest, source: `${projects}/${index}/${source}`, target: `x${index}` };
    });
  const groups = Object.fromEntries(
    [0, 1].map((group) => [`g${group}`, { channel: "terminal", chat: `g${group}`, mounts: mountsOf(group) }]),
  );
  const roots = [{ path: projects, access: "rw" }];
  await writeHome(home, { config: { channels: { terminal: {} }, groups }, mounts: { roots } });
  const { code, output } = await stage.commands.run(environment, ["mounts", "check", "g0", "--json"]);
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  return { code, told: lines.map((line) => JSON.parse(line) as ToldVerdict) };
}

async function makeFolders(folder: string): Promise<void> {
  for (const name of ["app/src", "app2"]) await mkdir(join(folder, name), { recursive: true });
  await symlink("app", join(folder, "to-app"));
  await symlink(".", join(folder, "to-projects"));
  if (process.geteuid?.() !== 0) return;
  for (const name of ["app", "app/src", "app2"]) await chown(join(folder, name), owner, owner);
}

export const attacks: readonly Attack[] = [
  {
    id: "A18",
    title: "two groups with the same folder: equal, nested, around, by links and dots, one of them reading",
    from: "program",
    expected: "refused with the other group's name unless both say that it is shared",
    audit: { none: "nothing is started: the verdicts of `crabpot mounts check` are the evidence" },
    attempt: async (stage) => {
      const { code, told } = await verdictsOf(stage);
      const wrong = sharings.flatMap(([name, , refused], index) => {
        const verdict = told.find(({ target }) => target.endsWith(`/x${index}`) || target === `x${index}`);
        const isRefused = verdict?.rule === "shared" && verdict.reason.includes("group g1");
        return verdict !== undefined && isRefused === refused && (verdict.verdict === "denied") === refused
          ? []
          : [name];
      });
      return { seen: wrong.join("; ") || `${told.length} verdicts`, holds: code === 1 && wrong.length === 0 };
    },
  },
];

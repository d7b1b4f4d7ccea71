import { chown, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";

import type { Attack } from "../suite/attack.ts";
import { engineVariables, openPlayground, runCommand, writeHome } from "../suite/host.ts";
import type { Stage } from "../suite/stage.ts";

const owner = 1234;

type Sharing = readonly [
  name: string,
  mounts: readonly { readonly source: string; readonly access: "ro" | "rw"; readonly shared?: boolean }[],
  refused: boolean,
];

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

/** Whether the first of two groups is refused its mount for the sake of the second. */
async function isRefused(stage: Stage, mounts: Sharing[1]): Promise<boolean> {
  await using playground = await openPlayground(
    engineVariables(stage.playground.environment),
    stage.playground.userHome,
  );
  const { home, userHome, environment } = playground;
  const projects = join(userHome, "projects");
  for (const folder of ["app/src", "app2"]) await mkdir(join(projects, folder), { recursive: true });
  await symlink("app", join(projects, "to-app"));
  await symlink(".", join(projects, "to-projects"));
  if (process.geteuid?.() === 0)
    for (const name of ["app", "app/src", "app2"]) await chown(join(projects, name), owner, owner);
  const groups = Object.fromEntries(
    mounts.map(({ source, ...rest }, index) => {
      const mount = { ...rest, source: `${projects}/${source}`, target: "x" };
      return [`g${index}`, { channel: "terminal", chat: `g${index}`, mounts: [mount] }];
    }),
  );
  const roots = [{ path: projects, access: "rw" }];
  await writeHome(home, { config: { channels: { terminal: {} }, groups }, mounts: { roots } });
  const { code, output } = await runCommand(environment, ["mounts", "check", "g0", "--json"]);
  return code === 1 && output.includes('"rule":"shared"') && output.includes("group g1");
}

export const attacks: readonly Attack[] = [
  {
    id: "A18",
    title: "two groups with the same folder: equal, nested, around, by links and dots, one of them reading",
    from: "program",
    expected: "refused with the other group's name unless both say that it is shared",
    audit: { none: "nothing is started: the verdicts of `crabpot mounts check` are the evidence" },
    attempt: async (stage) => {
      const wrong: string[] = [];
      for (const [name, mounts, refused] of sharings) {
        if ((await isRefused(stage, mounts)) !== refused) wrong.push(name);
      }
      return { seen: wrong.join("; ") || `${sharings.length} verdicts`, holds: wrong.length === 0 };
    },
  },
];

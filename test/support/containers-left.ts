import { askEngine } from "./engine-api.ts";
import { surroundings } from "./engine.ts";
import { openEngine } from "../../src/sandbox/engine/catalog.ts";
import { byTest, made } from "./made-by-tests.ts";

interface Listed {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly Mounts: readonly { readonly Source?: string }[];
}

/** Removes the containers that this file's tests made, or a host of theirs in one of their folders, and names them. */
export async function removeContainersLeft(): Promise<string[]> {
  await using engine = await openEngine(surroundings);
  const { address } = await engine.facts();
  const answer = await askEngine(address.replace("unix://", ""), "GET", "/containers/json?all=1");
  const left = (JSON.parse(answer) as Listed[]).flatMap(({ Id, Names, Mounts }) => {
    const name = Names[0]?.slice(1) ?? Id;
    if (made.containers.has(name)) return [{ id: Id, line: `container ${name}${byTest(made.containers.get(name))}` }];
    const folder = Mounts.map(({ Source }) => ownFolder(Source ?? "")).find((path) => path !== undefined);
    return folder === undefined ? [] : [{ id: Id, line: `container ${name}${byTest(made.folders.get(folder))}` }];
  });
  for (const { id } of left) await engine.remove(id);
  return left.map(({ line }) => line);
}

function ownFolder(path: string): string | undefined {
  return [...made.folders.keys()].find((folder) => path.startsWith(`${folder}/`));
}

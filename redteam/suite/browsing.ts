import { readEnvironment } from "../../src/config/environment.ts";
import { browserVariant, packagesFor, sortPackages } from "../../src/domain/sandbox/packages.ts";
import { readAgentImage } from "../../src/sandbox/images/agent-image.ts";
import { findPackageImage } from "../../src/sandbox/images/package-image.ts";
import { nameOfPackages } from "../../src/sandbox/images/package-recipe.ts";
import type { ContainerEngine } from "../../src/sandbox/engine/engine.ts";
import { pageName } from "./stage-pages.ts";

/** Reason why browser attacks cannot run; undefined when they can. Fetches nothing. */
export async function whyNoBrowser(engine: ContainerEngine): Promise<string | undefined> {
  const { id } = await readAgentImage(readEnvironment().checkout);
  const lists = packagesFor({ ...sortPackages({}), browser: true });
  const image = await findPackageImage(engine, nameOfPackages(id, lists));
  return image ? undefined : "no group of this machine has `image: browser`, so there is no image with one";
}

/** The group with a browser may reach one name, and nothing that it reads of there may make it talk. */
export function giveBrowser(
  config: { readonly groups: object; readonly sandbox: object },
  { port }: { readonly port: number },
): object {
  const place = `${pageName}:${port}`;
  const browsing = {
    channel: "http",
    chat: "browsing",
    image: browserVariant,
    network: { allow: [place], allowPrivate: [place] },
    policy: { rules: [{ tool: "send_message", origin: "web", action: "deny" }] },
  };
  const { groups, sandbox } = config;
  return { ...config, groups: { ...groups, browsing }, sandbox: { ...sandbox, memoryMb: 1_024, pids: 256 } };
}

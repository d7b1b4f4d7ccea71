import { realpath } from "node:fs/promises";

import { components, foldName, isWithin } from "../../lib/files/paths.ts";

/** Folders of this installation and its user, which are never mounted. */
export interface OwnFolders {
  /** Home folder of the host's user: what `~` stands for. */
  readonly homeFolder: string;
  /** `CRABPOT_HOME`: configuration, keys, database, the folders of all groups. */
  readonly crabpotHome: string;
  /** The program itself. */
  readonly checkout: string;
  /** Additional folders or sockets to refuse, such as the engine's. */
  readonly alsoRefused?: readonly string[];
}

/**
 * System folders that are refused with all that is in them and around them. `/root` is one of them, unless it is the
 * home of the host's own user: then folders below it may be granted like those of any other home.
 */
const systemTrees = ["/boot", "/dev", "/etc", "/proc", "/root", "/run", "/sys", "/var/run"] as const;

/** Data and sockets of container engines and virtual machines; writing there means owning the machine. */
const engineTrees = [
  "/var/lib/containerd",
  "/var/lib/containers",
  "/var/lib/docker",
  "/var/lib/docker-engine",
  "/var/lib/incus",
  "/var/lib/kubelet",
  "/var/lib/libvirt",
  "/var/lib/lxc",
  "/var/lib/lxd",
  "/var/lib/rancher",
] as const;

/** Jobs that the machine runs as other users, and where it keeps their passwords. */
const otherTrees = [
  "/var/spool/at",
  "/var/spool/cron",
  "/System",
  "/Library",
  "/private/etc",
  "/private/var/db",
] as const;

/** Below the home folder: engines, key rings and browser profiles that do not lie under a credential name. */
const homeTrees = [
  ".colima",
  ".lima",
  ".local/share/containers",
  ".local/share/docker",
  ".local/share/keyrings",
  ".orbstack",
  ".rd",
  ".var/app",
  "AppData",
  "Library",
  "snap/chromium",
  "snap/firefox",
] as const;

/** Names that hold credentials wherever they appear: as any whole component, in any case, as a file or a folder. */
const credentialNames = [
  ".aws",
  ".azure",
  ".cargo",
  ".config",
  ".docker",
  ".git-credentials",
  ".gnupg",
  ".kube",
  ".mozilla",
  ".netrc",
  ".npm",
  ".password-store",
  ".pgpass",
  ".pypirc",
  ".ssh",
  ".thunderbird",
  ".vault-token",
] as const;

interface Place {
  readonly path: string;
  readonly why: string;
  /** `tree`: refused inside as well. `whole`: only it and what contains it. */
  readonly extent: "tree" | "whole";
}

function tree(why: string): (path: string) => Place {
  return (path) => ({ path, why, extent: "tree" });
}

/**
 * The fixed list of what is never mounted, with the `blocked` names of the allowlist added. Built anew for each
 * judgement.
 */
export class Refusals {
  readonly #places: readonly Place[];
  readonly #names: ReadonlyMap<string, string>;
  readonly #home: string;

  private constructor(places: readonly Place[], names: ReadonlyMap<string, string>, home: string) {
    this.#places = places;
    this.#names = names;
    this.#home = home;
  }

  /** Resolves links in the list, so that both the written and the real path of each place count. */
  static async build(own: OwnFolders, blocked: readonly string[]): Promise<Refusals> {
    const written: Place[] = [
      ...systemTrees.map(tree("a system folder")),
      ...engineTrees.map(tree("the data of a container engine")),
      ...otherTrees.map(tree("a system folder")),
      ...homeTrees.map((name) => `${own.homeFolder}/${name}`).map(tree("private data of your user")),
      tree("crabpot's own home")(own.crabpotHome),
      tree("crabpot's own program")(own.checkout),
      ...(own.alsoRefused ?? []).map(tree("a part of the container engine")),
      { path: own.homeFolder, why: "your whole home folder", extent: "whole" },
    ];
    const places: Place[] = [];
    for (const place of written) {
      const real = await realpath(place.path).catch(() => place.path);
      places.push(place);
      if (real !== place.path) places.push({ ...place, path: real });
    }
    const names = new Map<string, string>(
      credentialNames.map((name) => [foldName(name), "is known to hold credentials"]),
    );
    for (const name of blocked) names.set(foldName(name), "is blocked in mounts.json");
    const home = await realpath(own.homeFolder).catch(() => own.homeFolder);
    return new Refusals(places, names, home);
  }

  /**
   * Returns why a folder with this real path may not be mounted, as the end of a sentence; undefined when not listed.
   */
  ofPath(path: string): string | undefined {
    for (const place of this.#places) {
      if (isWithin(place.path, path)) {
        return place.path === path ? `${path} is ${place.why}` : `${path} contains ${place.path}, ${place.why}`;
      }
      if (place.extent === "tree" && isWithin(path, place.path) && !this.#isOwnHomeIn(place.path, path)) {
        return `${path} is inside ${place.path}, ${place.why}`;
      }
    }
    const name = components(path).find((component) => this.ofName(component) !== undefined);
    return name === undefined ? undefined : `${path} goes through ${name}, which ${this.ofName(name) ?? ""}`;
  }

  /** Names that are refused wherever they appear, folded. */
  get names(): readonly string[] {
    return [...this.#names.keys()];
  }

  /** Returns why nothing of this name may be mounted, as the end of a sentence. */
  ofName(name: string): string | undefined {
    return this.#names.get(foldName(name));
  }

  #isOwnHomeIn(place: string, path: string): boolean {
    return place === "/root" && isWithin(this.#home, "/root") && path !== this.#home && isWithin(path, this.#home);
  }
}

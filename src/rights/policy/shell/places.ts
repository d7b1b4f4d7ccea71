import { posix } from "node:path";

import { containerPaths } from "../../../protocol/paths.ts";
import type { ToolRisk } from "../../../protocol/tools.ts";
import type { Argument } from "./arguments.ts";

/** Risk of touching a path, attributed to its piece. */
export interface PathRisk {
  readonly risk: ToolRisk;
  readonly does: string;
}

const { group, extra, temporary } = containerPaths;

const instructionFiles = ["AGENTS.md", "SOUL.md", "USER.md", "IDENTITY.md"];

/** Files that programs run or are steered by when they start. */
const steersPrograms =
  /(?:^|\/)(?:\.git\/(?:hooks(?:\/|$)|config$)|\.gitconfig$|\.config\/git\/|\.bash(?:rc|_profile|_login|_logout|_aliases)$|\.profile$|\.zshrc$|\.inputrc$|\.npmrc$|\.ssh(?:\/|$)|\.env(?:rc)?$)/;

/** Also as git names a file of a commit: `HEAD:.env`. */
const secretFiles =
  /(?:^|[/:])(?:\.ssh(?:\/|$)|\.gnupg(?:\/|$)|\.env(?:\.(?!example$|sample$|template$|dist$)[^/]*)?$|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$|\.netrc$|\.pgpass$|\.git-credentials$|\.aws(?:\/|$)|\.kube(?:\/|$)|\.docker\/config\.json$|\.npmrc$|\.pypirc$)|^\/etc\/g?shadow|^\/proc\/(?:self\/|thread-self\/|[^/]*\/|)(?:task\/[^/]*\/)?(?:environ|mem|maps|kcore)$|^\/dev\/k?mem$/;
/** Sample names that a pattern is tried on. */
const secretNames = [".env", ".ssh", "id_rsa", "id_ed25519", ".netrc", ".git-credentials", ".gnupg", ".aws", "environ"];

const network = /^\/dev\/(?:tcp|udp)\//;
const harmlessDevice = /^(?:\/dev\/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+)|-)$/;

/** The folders in which a relative path may lie: that of the group, and where the line goes with `cd`. */
export type Folders = ReadonlySet<string>;

export const startFolder: string = group;

/** Undefined for what needs no word. */
export function judgeReading(argument: Argument): PathRisk | undefined {
  // An option may have the path behind its `=`, as `dd if=…` has.
  const path = (argument.value ?? argument.pattern ?? withoutQuotes(argument)).replace(/^-{0,2}[\w-]+=/, "");
  if (network.test(path)) return { risk: "high", does: "opens a connection to the network" };
  const isSecret = argument.pattern === undefined ? secretFiles.test(posix.normalize(path)) : mayMatchSecret(path);
  return isSecret ? { risk: "high", does: "reads what may hold secrets" } : undefined;
}

/** Visible part of an unknown word: `$X/.ssh/id_rsa`. */
function withoutQuotes({ source }: Argument): string {
  return source.replaceAll(/["'\\]/g, "");
}

/** Risk of writing to, changing or removing this path, in the worst of the folders. */
export function judgeWriting(argument: Argument, folders: Folders): PathRisk {
  const path = argument.value ?? argument.pattern;
  if (path === undefined && steersPrograms.test(withoutQuotes(argument)))
    return { risk: "high", does: "changes what other programs run or are told" };
  if (path === undefined && argument.beginning === "")
    return { risk: "medium", does: "writes to a place that is known only when it runs" };
  const known = path ?? `${argument.beginning}x`;
  return worst([...folders].map((folder) => judgeWritingIn(posix.resolve(folder, known), known)));
}

/** True for the group's whole folder, or `*` in it. */
export function isWholeGroup(argument: Argument, folders: Folders): boolean {
  const path = argument.value ?? argument.pattern;
  if (path === undefined) return false;
  const name = posix.basename(path);
  const meant = /^[.*?![\]]*\*$/.test(name) ? posix.dirname(path) : path;
  return [...folders].some((folder) => posix.resolve(folder, meant) === group);
}

function judgeWritingIn(path: string, written: string): PathRisk {
  if (network.test(path)) return { risk: "high", does: "opens a connection to the network" };
  if (harmlessDevice.test(written) || harmlessDevice.test(path)) return { risk: "low", does: "" };
  if (isInstruction(path)) return { risk: "high", does: "changes the agent's instructions" };
  if (steersPrograms.test(path)) return { risk: "high", does: "changes what other programs run or are told" };
  if (isBelow(path, extra)) return { risk: "high", does: "changes a mounted folder" };
  if (isBelow(path, group) || isBelow(path, temporary) || isBelow(path, "/var/tmp"))
    return { risk: "medium", does: "changes files of the group" };
  return { risk: "high", does: "changes something outside the group's folder" };
}

function isInstruction(path: string): boolean {
  if (!isBelow(path, group)) return false;
  const name = posix.basename(path);
  if (instructionFiles.includes(name)) return true;
  return /[*?[]/.test(name) && posix.dirname(path) === group && instructionFiles.some((file) => matches(name, file));
}

function mayMatchSecret(pattern: string): boolean {
  return pattern.split("/").some((name) => {
    if (!/[*?[]/.test(name)) return secretFiles.test(name);
    const literal = name.replaceAll(/[*?]|\[[^\]]*\]/g, "");
    return (literal.startsWith(".") || literal.length > 1) && secretNames.some((secret) => matches(name, secret));
  });
}

/** Matches only `*`, `?` and `[…]`, which stands for any character here. */
function matches(pattern: string, name: string): boolean {
  const simple = pattern.replaceAll(/\[[^\]]*\]/g, "?").replaceAll(/\*+/g, "*");
  // Also keeps the expression short, which hostile text would have make slow.
  if (simple.replaceAll("*", "").length > name.length) return false;
  const expression = simple
    .replaceAll(/[^\w*?]/g, String.raw`\$&`)
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${expression}$`, "s").test(name);
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function worst(found: readonly PathRisk[]): PathRisk {
  return (
    found.find(({ risk }) => risk === "high") ??
    found.find(({ risk }) => risk === "medium") ?? { risk: "low", does: "" }
  );
}

import { readFile } from "node:fs/promises";
import * as z from "zod";

import { accesses, type Access, type Protection, protections } from "../../domain/chats/group.ts";
import { toError } from "../../lib/app-error.ts";
import { readAllowlist, type Allowlist, type MountRoot } from "./allowlist.ts";
import { identifyFolder, type FolderIdentity } from "./identity.ts";
import { expandHome, hasHiddenCharacters, isWithin } from "../../lib/files/paths.ts";
import { mountOf, otherPathsOf, parseMountInfo, type MountPoint } from "../../lib/files/mount-points.ts";
import { Refusals, type OwnFolders } from "./refusals.ts";
import { targetFault } from "./target.ts";
import { lookThrough, mostSecrets, visiblePath, type Contents, type WalkLimits } from "./walk.ts";
import { findEntries } from "./find-entries.ts";
import { keepReadOnly, type ProtectedPath, protectedTests } from "./protected-paths.ts";
import { type CoveredPath, type CoveredSecret, coversIn, secretsAmong, secretTests } from "./covers.ts";
import { openFolder } from "./open-below.ts";
import { secretsRemark } from "./secrets-remark.ts";

/** A group may ask for this many folders; more are denied. */
const maxMounts = 32;

/** Network file systems: identity, ownership and liveness are another machine's word. */
const networkTypes =
  /^(9p2000|afs|ceph|cifs|coda|fuse\.(ceph|cephfs|gcsfuse|gfs|glusterfs|rclone|s3fs|sshfs)|glusterfs|lustre|ncpfs|nfs4?|smb3|smbfs)$/;

/** File systems that are an interface of the kernel, wherever they are mounted. */
const kernelTypes =
  /^(autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|efivarfs|fusectl|mqueue|nsfs|proc|pstore|rpc_pipefs|securityfs|selinuxfs|sysfs|tracefs)$/;

/** Below the mount, made of plain names. */
const protectedPath = z.string().superRefine((path, context) => {
  const fault = targetFault(path, []);
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault.replace("the target", "it") });
});

const mountRequest = z.strictObject({
  source: z.string().min(1),
  target: z.string(),
  access: z.enum(accesses).default("ro"),
  shared: z.boolean().default(false),
  protect: z.union([z.enum(protections), z.array(protectedPath).max(32)]).default("standard"),
  secrets: z.enum(["cover", "show"]).default("cover"),
  // Decides nothing here.
  review: z.unknown().optional(),
});

/** `reason` is a whole sentence. `source` and `target` are as requested, empty when they were no text. */
export type MountVerdict = MountGrant | MountDenial;

/**
 * The deciding rule. `request`, `target`: invalid request. `allowlist`: unusable mounts.json. `source`: no readable
 * folder. `protected`: path, name or file system that is never mounted. `root`: below no root of mounts.json, or
 * (granted) the deciding root. `contents`: contains something that is never mounted. `shared`: another group gets it,
 * too. `owner`: no container user fits. `review`: mounts with review cannot be had.
 */
export type MountRule =
  | "request"
  | "target"
  | "allowlist"
  | "source"
  | "protected"
  | "root"
  | "contents"
  | "shared"
  | "owner"
  | "review";

export interface MountGrant extends FolderIdentity {
  readonly source: string;
  readonly target: string;
  readonly verdict: Access;
  /** The root, as written in mounts.json. */
  readonly root?: string;
  readonly reason: string;
  /** True when other groups may get it, too. */
  readonly shared?: boolean;
  /** Paths in it that stay read-only, of a mount that is writable. */
  readonly protect?: readonly ProtectedPath[];
  /** By which they were found. */
  readonly protection?: Protection;
  /** Covered in containers, because they look like secrets; undefined: the agent sees them. */
  readonly covered?: readonly CoveredSecret[] | undefined;
  /** The first files in it that look like secrets. */
  readonly secrets?: readonly string[];
  /** The engine's volume, of a mount with review; known when a container is made. */
  readonly review?: ReviewVolume | undefined;
}

/** A volume that joins a real folder and a layer. */
export interface ReviewVolume {
  readonly volume: string;
  readonly options: Readonly<Record<string, string>>;
}

export interface MountDenial {
  readonly source: string;
  readonly target: string;
  readonly verdict: "denied";
  readonly rule: MountRule;
  readonly reason: string;
  /** Repair command, if there is one. */
  readonly fix?: string;
}

export interface MountContext extends OwnFolders {
  /** Path of `mounts.json`. */
  readonly allowlistPath: string;
  readonly hostUid: number;
  readonly walkLimits?: WalkLimits;
  /** Skips the search through the folder: the result is the best possible grant. */
  readonly withoutContents?: boolean;
  /** Returns why mounts with review cannot be had on this machine, as a sentence; without it they cannot. */
  readonly reviewFault?: (() => Promise<string | undefined>) | undefined;
  /** Text of the machine's mount table; this process's by default. */
  readonly mountInfo?: string;
}

interface Rules {
  readonly allowlist: Allowlist;
  readonly refusals: Refusals;
  readonly mounts: readonly MountPoint[];
  readonly context: MountContext;
}

type Wish = z.infer<typeof mountRequest>;

type Judgement =
  | { readonly granted: Omit<MountGrant, "source" | "target"> }
  | { readonly denied: string; readonly rule: MountRule };

/**
 * Decides for each requested mount what it gets: its access or `denied`, in the order asked. Reads the allowlist and
 * the folders at each call, caches nothing, and never rejects: a bad request is a denial with a reason. A grant is for
 * the folder found now; `recheckMount` tells whether it is still the same one.
 */
export async function judgeMounts(requests: readonly unknown[], context: MountContext): Promise<MountVerdict[]> {
  if (requests.length === 0) return [];
  const { allowlistPath, homeFolder, hostUid } = context;
  const allowlist = await readAllowlist({ path: allowlistPath, homeFolder, hostUid });
  const blocked = allowlist.state === "ready" ? allowlist.blocked : [];
  const refusals = await Refusals.build(context, blocked);
  const mounts = await readMountTable(context);
  const rules: Rules = { allowlist, refusals, mounts, context };

  const verdicts: MountVerdict[] = [];
  const taken: string[] = [];
  for (const [index, request] of requests.entries()) {
    const verdict =
      index < maxMounts
        ? await judge(request, taken, rules)
        : deny(request, "request", `more than ${maxMounts} mounts`);
    verdicts.push(verdict);
    if (targetFault(verdict.target, taken) === undefined) taken.push(verdict.target);
  }
  return verdicts;
}

/** Reads the machine's mount table. */
export async function readMountTable({ mountInfo }: Pick<MountContext, "mountInfo">): Promise<MountPoint[]> {
  return parseMountInfo(mountInfo ?? (await readFile("/proc/self/mountinfo", "utf8").catch(() => "")));
}

/** Names that may lie in no mount, by the allowlist as it is now. */
export async function readRefusals(context: MountContext): Promise<Refusals> {
  const { allowlistPath, homeFolder, hostUid } = context;
  const allowlist = await readAllowlist({ path: allowlistPath, homeFolder, hostUid });
  return Refusals.build(context, allowlist.state === "ready" ? allowlist.blocked : []);
}

async function judge(request: unknown, taken: readonly string[], rules: Rules): Promise<MountVerdict> {
  const parsed = mountRequest.safeParse(request);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return deny(
      request,
      "request",
      `the request is not valid (${issue?.path.join(".") || "mount"}: ${issue?.message ?? ""})`,
    );
  }
  const { source, target } = parsed.data;
  const fault = targetFault(target, taken);
  if (fault !== undefined) return deny(request, "target", fault);
  try {
    const judgement = await judgeSource(parsed.data, rules);
    return "denied" in judgement
      ? deny(request, judgement.rule, judgement.denied)
      : { source, target, ...judgement.granted };
  } catch (error) {
    return deny(request, "source", `it could not be examined (${toError(error).message})`);
  }
}

function deny(request: unknown, rule: MountRule, why: string): MountDenial {
  const asked = typeof request === "object" && request !== null ? (request as Record<string, unknown>) : {};
  const source = typeof asked["source"] === "string" ? asked["source"] : "";
  const target = typeof asked["target"] === "string" ? asked["target"] : "";
  return { source, target, verdict: "denied", rule, reason: `Denied: ${why}.` };
}

async function judgeSource({ source, access, shared, protect, secrets }: Wish, rules: Rules): Promise<Judgement> {
  if (hasHiddenCharacters(source)) return { rule: "request", denied: "the source has control or invisible characters" };
  const path = expandHome(source, rules.context.homeFolder);
  if (path === undefined)
    return { rule: "request", denied: `the source ${source} is neither absolute nor begins with ~/` };

  // First what no allowlist could change: nobody should write one in vain.
  const folder = await identifyFolder(path);
  if (typeof folder === "string") return { rule: "source", denied: folder };
  const { realPath } = folder;
  const refusal = refusePath(realPath, rules);
  if (refusal !== undefined) return { rule: "protected", denied: refusal };
  if (rules.allowlist.state === "unusable") return { rule: "allowlist", denied: rules.allowlist.reason };
  const root = rootOf(realPath, rules.allowlist.roots);
  if (root === undefined) return { rule: "root", denied: `${realPath} is not below any root in mounts.json` };
  const inside = await lookInside(realPath, rules);
  if (inside.refusal !== undefined) return { rule: "contents", denied: inside.refusal };

  const granted = grantedAccess(access, root, rules.allowlist.roots, realPath);
  const grant = protect === "strict" ? strictAccess(granted, access) : granted;
  if ("denied" in grant) return grant;
  const fault = grant.verdict === "review" ? await reviewRefusal(folder, rules.context) : undefined;
  if (fault !== undefined) return fault;
  return describeGrant({ granted: { ...folder, root: root.path, ...grant, shared }, protect, secrets, inside }, rules);
}

/** The grant with all that is covered and protected in it, and what its reason says about that. */
async function describeGrant(
  {
    granted,
    protect,
    secrets,
    inside,
  }: Pick<Wish, "protect" | "secrets"> & {
    readonly granted: Omit<MountGrant, "source" | "target">;
    readonly inside: Contents;
  },
  { context }: Rules,
): Promise<Judgement> {
  if (context.withoutContents === true) return { granted };
  const isWritten = granted.verdict === "rw" || (granted.verdict === "review" && protect === "strict");
  const protection = isWritten ? protect : "none";
  const isCovered = secrets === "cover";
  const tests = [...(isCovered ? secretTests : []), ...protectedTests(protection)];
  const never = new AbortController().signal;
  await using folder = await openFolder(granted.realPath);
  try {
    const entries = tests.length === 0 ? [] : await findEntries(folder, tests, never);
    const covered = isCovered ? coversOf(await secretsAmong(folder, entries, never), context) : undefined;
    const isOpen = (path: string): boolean => covered?.every((cover) => !isWithin(path, cover.path)) ?? true;
    const kept = await keepReadOnly(granted, { entries, protection, isOpen });
    const found = covered
      ? { paths: covered.map((cover) => visiblePath(Buffer.from(cover.path))), count: covered.length }
      : inside.secrets;
    const reason = granted.reason + kept.remark + secretsRemark({ ...found, isCovered });
    const shown = found.paths.slice(0, mostSecrets);
    return {
      granted: {
        ...granted,
        protect: kept.protect,
        protection,
        reason,
        covered,
        secrets: shown,
      },
    };
  } catch (error) {
    return { rule: "contents", denied: toError(error).message.replace(/\.$/, "") };
  }
}

function coversOf(secrets: readonly CoveredPath[], { crabpotHome }: MountContext): readonly CoveredSecret[] {
  const covers = coversIn(crabpotHome);
  return secrets.map((secret) => ({ ...secret, cover: secret.isFolder ? covers.folder : covers.file }));
}

async function lookInside(folder: string, { refusals, context }: Rules): Promise<Contents> {
  if (context.withoutContents === true) return { refusal: undefined, secrets: { paths: [], count: 0 } };
  return lookThrough(folder, (name) => refusals.ofName(name), context.walkLimits);
}

function refusePath(path: string, { refusals, mounts }: Rules): string | undefined {
  for (const seenAs of [path, ...otherPathsOf(path, mounts)]) {
    const refusal = refusals.ofPath(seenAs);
    if (refusal !== undefined) return refusal;
  }
  const type = mountOf(path, mounts)?.type ?? "";
  if (networkTypes.test(type)) return `${path} is on a network file system (${type})`;
  if (kernelTypes.test(type)) return `${path} is on a file system of the kernel (${type})`;
  // Engines before 25 leave mounts below a read-only one writable; also, what they show was never judged.
  const below = mounts.find((mount) => mount.target !== path && isWithin(mount.target, path));
  return below === undefined ? undefined : `${path} contains another mount at ${below.target}`;
}

/** The deepest root above a path; of two for the same folder, the stricter. */
function rootOf(path: string, roots: readonly MountRoot[]): MountRoot | undefined {
  const above = roots.filter((root) => isWithin(path, root.realPath));
  const depth = Math.max(...above.map((root) => root.realPath.length));
  const deepest = above.filter((root) => root.realPath.length === depth);
  const strictest = (["ro", "review"] as const).map((access) => deepest.find((root) => root.access === access));
  return strictest.find((root) => root !== undefined) ?? deepest[0];
}

/** Undefined where a folder can be mounted with review. What cannot be known is refused, never granted as another. */
async function reviewRefusal(
  { realPath, uid }: FolderIdentity,
  { hostUid, reviewFault, withoutContents }: MountContext,
): Promise<{ readonly denied: string; readonly rule: MountRule } | undefined> {
  if (/[,:\\]/.test(realPath) || realPath.length > maxReviewedPath) {
    const denied = `${realPath} cannot be mounted with review: its path is too long or has a comma, colon or backslash`;
    return { rule: "review", denied };
  }
  if (hostUid !== 0 && uid !== hostUid) {
    const denied = `${realPath} belongs to uid ${uid}, and crabpot, as uid ${hostUid}, could not apply changes there`;
    return { rule: "owner", denied };
  }
  if (withoutContents === true) return undefined;
  if (reviewFault === undefined) return { rule: "review", denied: "mounts with review cannot be had here" };
  const fault = await reviewFault();
  return fault === undefined ? undefined : { rule: "review", denied: fault.replace(/\.$/, "") };
}

/**
 * Judges `protect: strict`. A name cannot be forbidden in a folder that somebody may write. So where what programs run
 * by themselves must not come into being, changes wait in a layer; all others get into the folder as a turn ends.
 */
function strictAccess(
  granted: { readonly verdict: Access; readonly reason: string },
  asked: Access,
): { readonly verdict: Access; readonly reason: string } | { readonly denied: string; readonly rule: MountRule } {
  if (asked !== "rw" || granted.verdict === "ro") return granted;
  if (granted.verdict === "review")
    return {
      rule: "root",
      denied: "its root in mounts.json wants all changes to wait for people: write access: review",
    };
  return {
    verdict: "review",
    reason: `${granted.reason.replace(/\.$/, "")}, but what programs run by themselves waits for people.`,
  };
}

/** The kernel takes the options of a mount up to 4 KiB, and another path stands in them twice. */
const maxReviewedPath = 1_000;

function grantedAccess(
  asked: Access,
  root: MountRoot,
  roots: readonly MountRoot[],
  path: string,
): { verdict: Access; reason: string } {
  if (asked === "ro") return { verdict: "ro", reason: `Granted read-only below ${root.path}.` };
  const wish = asked === "rw" ? "read-write" : "with review";
  if (root.access === "ro") {
    return {
      verdict: "ro",
      reason: `Granted read-only instead of ${wish}: mounts.json grants ${root.path} read-only.`,
    };
  }
  const inner = roots.find((other) => other.access === "ro" && isWithin(other.realPath, path));
  if (inner !== undefined) {
    return {
      verdict: "ro",
      reason: `Granted read-only instead of ${wish}: it contains ${inner.path}, which is read-only.`,
    };
  }
  if (asked === "review") return { verdict: "review", reason: `Granted with review below ${root.path}.` };
  const reviewed = roots.find((other) => other.access === "review" && isWithin(other.realPath, path));
  if (root.access === "rw" && reviewed === undefined)
    return { verdict: "rw", reason: `Granted read-write below ${root.path}.` };
  const which = reviewed?.path ?? root.path;
  return {
    verdict: "review",
    reason: `Granted with review instead of read-write: mounts.json grants ${which} with review.`,
  };
}

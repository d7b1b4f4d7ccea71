import { isDeepStrictEqual } from "node:util";

import { protectedFileNames } from "../../domain/rights/protected-file.ts";
import { skillNameFault } from "../../domain/sandbox/skill.ts";
import { AppError } from "../../lib/app-error.ts";
import { containerPaths, reviewPaths } from "../../protocol/paths.ts";
import type { CreateBody } from "../engine/engine.ts";
import { isWithin } from "../../lib/files/paths.ts";
import { maskedPaths, readonlyPaths } from "./profile.ts";
import { seccompProfile } from "./seccomp.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Requirement on a field of a body; the text completes "must be …". */
interface Rule {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

const anything: Rule = { must: "present", holds: (value) => value !== undefined };

/** Every key that a body may have. What is not listed (`Volumes`, `ExposedPorts`, `MacAddress` …) is refused. */
const bodyRules: Readonly<Record<string, Rule>> = {
  Image: { must: "an image ID", holds: (value) => /^sha256:[0-9a-f]{64}$/.test(String(value)) },
  User: { must: "numbers above 0", holds: (value) => /^[1-9]\d*:[1-9]\d*$/.test(String(value)) },
  Hostname: anything,
  Env: { must: "a list", holds: Array.isArray },
  Entrypoint: { must: "empty", holds: (value) => isDeepStrictEqual(value, []) },
  Cmd: { must: "a list", holds: Array.isArray },
  WorkingDir: anything,
  Healthcheck: { must: "off", holds: (value) => isDeepStrictEqual(value, { Test: ["NONE"] }) },
  Labels: anything,
  NetworkDisabled: exactly(true),
  AttachStdin: exactly(false),
  OpenStdin: exactly(false),
  Tty: exactly(false),
  StopSignal: anything,
  StopTimeout: above(0),
  HostConfig: anything,
};

/**
 * Every key that a `HostConfig` may and must have: so no `Privileged`, `Binds`, `Devices`, `CapAdd`, `PidMode`,
 * `VolumesFrom` …
 */
const hostConfigRules: Readonly<Record<string, Rule>> = {
  CapDrop: { must: "ALL", holds: (value) => isDeepStrictEqual(value, ["ALL"]) },
  SecurityOpt: {
    must: "no-new-privileges and crabpot's own seccomp profile",
    holds: (value) => isDeepStrictEqual(value, ["no-new-privileges", `seccomp=${JSON.stringify(seccompProfile)}`]),
  },
  NetworkMode: exactly("none"),
  ReadonlyRootfs: exactly(true),
  Tmpfs: { must: "limited, nosuid and nodev", holds: areBoundedTmpfs },
  ShmSize: above(0),
  IpcMode: exactly("private"),
  CgroupnsMode: exactly("private"),
  Memory: above(0),
  MemorySwap: above(0),
  OomScoreAdj: above(0),
  PidsLimit: above(0),
  NanoCpus: above(0),
  Init: exactly(true),
  Ulimits: { must: "a list", holds: (value) => Array.isArray(value) && value.length > 0 },
  LogConfig: { must: "none", holds: (value) => isDeepStrictEqual(value, { Type: "none", Config: {} }) },
  MaskedPaths: { must: "crabpot's own list", holds: (value) => isDeepStrictEqual(value, maskedPaths) },
  ReadonlyPaths: { must: "crabpot's own list", holds: (value) => isDeepStrictEqual(value, readonlyPaths) },
  RestartPolicy: { must: "no", holds: (value) => isDeepStrictEqual(value, { Name: "no", MaximumRetryCount: 0 }) },
  Runtime: anything,
  Mounts: {
    must: "private bind mounts in their places",
    holds: (value) => allOf(value, isPlainBind) && isScratchAlone(value as readonly Fields[]),
  },
};

/**
 * The last check before a body is sent: throws `engine_refused` unless every field is one of the profile and within it.
 * A fault in the code that builds bodies, or a body from elsewhere, ends here.
 */
export function refuseUnsafeBody(body: CreateBody): void {
  refuseBody(body, bodyRules, hostConfigRules);
}

/** The same for an MCP server's container, which has standard input and other folders. */
export function refuseUnsafeServerBody(body: CreateBody): void {
  const streams = { AttachStdin: exactly(true), OpenStdin: exactly(true), StdinOnce: exactly(true) };
  const mounts: Rule = { must: "private bind mounts in their places", holds: (value) => allOf(value, isServerBind) };
  refuseBody(body, { ...bodyRules, ...streams }, { ...hostConfigRules, Mounts: mounts });
}

/** The same for the container that looks at a mount with review: three folders, of which it writes none for long. */
export function refuseUnsafeReviewBody(body: CreateBody): void {
  const mounts: Rule = { must: "the parts of a mount with review", holds: (value) => allOf(value, isReviewed) };
  refuseBody(body, bodyRules, { ...hostConfigRules, Mounts: mounts });
}

function isReviewed(entry: unknown): boolean {
  const { Target, ReadOnly } = entry as Fields;
  if (Target === reviewPaths.seen) return isReviewVolume(entry as Fields);
  const isSide = Target === reviewPaths.layer || Target === reviewPaths.real;
  return isSide && ReadOnly === true && isPrivateBind(entry as Fields);
}

function refuseBody(body: CreateBody, rules: Readonly<Record<string, Rule>>, hostRules: typeof hostConfigRules): void {
  requireFields("", body, rules);
  const hostConfig = body["HostConfig"] as Fields;
  requireFields("HostConfig.", hostConfig, hostRules);
  if (hostConfig["Memory"] !== hostConfig["MemorySwap"]) refuse("HostConfig.MemorySwap must be the same as Memory");
}

/**
 * Throws `engine_refused` for an image of an MCP server that brings volumes. Its user and its health check are not
 * used.
 */
export function refuseUnsafeServerImage(reference: string, config: Fields): void {
  if (isEmpty(config["Volumes"])) return;
  throw new AppError(
    "engine_refused",
    `The image ${reference} is not used: it declares volumes, which would be made for it.`,
    {
      fix: `Make an image of it without VOLUME; what is to stay belongs into ${containerPaths.data}.`,
    },
  );
}

/**
 * Throws `engine_refused` for an image that brings volumes, an entry point, a health check, triggers or root as its
 * user.
 */
export function refuseUnsafeImage(image: { readonly id: string; readonly config: Fields }): void {
  const { config, id } = image;
  for (const key of ["Volumes", "OnBuild", "Entrypoint"]) {
    if (!isEmpty(config[key])) refuseImage(id, `it declares ${key}, which would take effect past the profile`);
  }
  const check = config["Healthcheck"] as { Test?: unknown } | null | undefined;
  if (!isEmpty(check?.Test) && !isDeepStrictEqual(check?.Test, ["NONE"])) refuseImage(id, "it declares a health check");
  const user = typeof config["User"] === "string" ? config["User"] : "";
  if (/^(root|0*)(:|$)/.test(user)) refuseImage(id, "its user is root");
}

function requireFields(prefix: string, fields: Fields, rules: Readonly<Record<string, Rule>>): void {
  const foreign = Object.keys(fields).find((key) => !Object.hasOwn(rules, key));
  if (foreign !== undefined) refuse(`${prefix}${foreign} is not part of the profile`);
  for (const [key, rule] of Object.entries(rules)) {
    if (!rule.holds(fields[key])) refuse(`${prefix}${key} must be ${rule.must}`);
  }
}

function exactly(expected: unknown): Rule {
  return { must: JSON.stringify(expected), holds: (value) => value === expected };
}

function above(bound: number): Rule {
  return { must: `above ${bound}`, holds: (value) => typeof value === "number" && value > bound };
}

function allOf(value: unknown, holds: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((entry) => holds(entry));
}

function areBoundedTmpfs(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const places = [containerPaths.home, containerPaths.temporary];
  return Object.entries(value).every(
    ([path, options]) =>
      places.some((place) => place === path) &&
      ["nosuid", "nodev", "size=", "nr_inodes="].every((word) => String(options).includes(word)),
  );
}

const fixedTargets: readonly string[] = [
  containerPaths.group,
  containerPaths.global,
  containerPaths.scratch,
  containerPaths.toAgent,
  containerPaths.toHost,
  containerPaths.egress,
];

const reviewVolumeName = /^crabpot-[0-9a-f]{8}-review-[0-9a-f]{32}$/;

const protectedTargets: readonly string[] = protectedFileNames.map((name) => `${containerPaths.group}/${name}`);

/** Targets that must be read-only: in a writable folder an agent could replace the host's socket. */
const readOnlyTargets: readonly string[] = [containerPaths.egress, ...protectedTargets];

const serverTargets: readonly string[] = [
  containerPaths.data,
  containerPaths.package,
  containerPaths.group,
  containerPaths.egress,
  ...protectedTargets,
];

function isServerBind(entry: unknown): boolean {
  const { Target, ReadOnly } = entry as Fields;
  const target = String(Target);
  if ([containerPaths.package, ...readOnlyTargets].includes(target) && ReadOnly !== true) return false;
  return serverTargets.includes(target) && isPrivateBind(entry as Fields);
}

function isPlainBind(entry: unknown): boolean {
  const { Target, ReadOnly } = entry as Fields;
  const target = String(Target);
  if ((readOnlyTargets.includes(target) || isSkill(target)) && ReadOnly !== true) return false;
  if ((entry as Fields)["Type"] === "volume")
    return isWithin(target, containerPaths.extra) && target !== containerPaths.extra && isReviewVolume(entry as Fields);
  return isPlace(target) && isPrivateBind(entry as Fields);
}

/** The only volumes: those of mounts with review, which the host makes and names. */
function isReviewVolume(volume: Fields): boolean {
  const { Type, Source, ReadOnly, VolumeOptions } = volume;
  return (
    Type === "volume" &&
    typeof Source === "string" &&
    reviewVolumeName.test(Source) &&
    typeof ReadOnly === "boolean" &&
    isDeepStrictEqual(VolumeOptions, { NoCopy: true }) &&
    Object.keys(volume).every((key) => ["Type", "Source", "Target", "ReadOnly", "VolumeOptions"].includes(key))
  );
}

/** Kernel folders and engine sockets are refused here once more, whatever judged the source before. */
function isPrivateBind(bind: Fields): boolean {
  const { Type, Source, ReadOnly, BindOptions } = bind;
  return (
    Type === "bind" &&
    typeof Source === "string" &&
    isOrdinarySource(Source) &&
    typeof ReadOnly === "boolean" &&
    isDeepStrictEqual(BindOptions, { Propagation: "rprivate", NonRecursive: true }) &&
    Object.keys(bind).every((key) => ["Type", "Source", "Target", "ReadOnly", "BindOptions"].includes(key))
  );
}

function isPlace(target: string): boolean {
  if ([...fixedTargets, ...protectedTargets].includes(target) || isSkill(target)) return true;
  return isWithin(target, containerPaths.extra) && target !== containerPaths.extra;
}

/** The folder of one skill. */
function isSkill(target: string): boolean {
  const [name, ...deeper] = target.startsWith(`${containerPaths.skills}/`)
    ? target.slice(containerPaths.skills.length + 1).split("/")
    : [];
  return name !== undefined && deeper.length === 0 && skillNameFault(name) === undefined;
}

/** Beside a scratch folder nothing of the host's can be written to but the mailbox. */
function isScratchAlone(binds: readonly Fields[]): boolean {
  if (!binds.some(({ Target }) => Target === containerPaths.scratch)) return true;
  const writable = binds.filter(({ ReadOnly }) => ReadOnly !== true).map(({ Target }) => Target);
  return writable.every((target) => target === containerPaths.scratch || target === containerPaths.toHost);
}

function isOrdinarySource(source: string): boolean {
  if (!source.startsWith("/") || source.endsWith(".sock")) return false;
  if (["/", "/dev", "/run", "/var", "/var/run", "/var/lib"].includes(source)) return false;
  return !["/boot", "/etc", "/proc", "/sys", "/var/lib/docker"].some((folder) => isWithin(source, folder));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function refuseImage(id: string, why: string): never {
  throw new AppError("engine_refused", `The image ${id} is not used: ${why}.`, { fix: "npm run setup" });
}

function refuse(why: string): never {
  throw new AppError("engine_refused", `The container was not created, because its description is unsafe: ${why}.`);
}

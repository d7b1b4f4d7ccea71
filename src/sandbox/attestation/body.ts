import { isDeepStrictEqual } from "node:util";

import type { CreateBody, Inspection } from "../engine/engine.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Fields of a body that are not found again under their name in `Config`, or mean something else there. */
const comparedElsewhere: ReadonlySet<string> = new Set(["HostConfig", "Image", "Labels", "Env"]);

/** Compares the engine's inspection with the requested body. Returns one sentence per difference. */
export function compareInspection(inspection: Inspection, body: CreateBody): string[] {
  const config = fieldsOf(inspection["Config"]);
  const state = fieldsOf(inspection["State"]);
  const found = [
    differs("image", inspection["Image"], body["Image"]),
    ...Object.keys(body)
      .filter((key) => !comparedElsewhere.has(key))
      .map((key) => differs(key, config[key], body[key])),
    ...compareLabels(fieldsOf(config["Labels"]), fieldsOf(body["Labels"])),
    ...compareEnvironment(listOf(config["Env"]), listOf(body["Env"])),
    ...compareHostConfig(fieldsOf(inspection["HostConfig"]), fieldsOf(body["HostConfig"])),
    ...compareMounts(listOf(inspection["Mounts"]), listOf(fieldsOf(body["HostConfig"])["Mounts"])),
    ...compareNetworks(fieldsOf(inspection["NetworkSettings"])),
    isEmpty(config["Volumes"]) ? undefined : "The image's volumes are mounted.",
    isEmpty(inspection["ExecIDs"]) ? undefined : "Something was executed in the container from outside.",
    inspection["AppArmorProfile"] === "unconfined" ? "AppArmor is switched off for it." : undefined,
    state["Running"] === true ? undefined : "It is not running.",
    isEmpty(inspection["RestartCount"]) ? undefined : "The engine has restarted it.",
  ];
  return found.filter((sentence) => sentence !== undefined);
}

function compareHostConfig(actual: Fields, intended: Fields): (string | undefined)[] {
  const wanted = Object.keys(intended).map((key) => differs(`HostConfig.${key}`, actual[key], intended[key]));
  const extra = Object.keys(actual)
    .filter((key) => !Object.hasOwn(intended, key) && !isEmpty(actual[key]) && !isZeroSize(actual[key]))
    .map((key) => `HostConfig.${key} is ${shown(actual[key])}, but was not asked for.`);
  return [...wanted, ...extra];
}

/** Compares labels; the image may add its own. */
function compareLabels(actual: Fields, intended: Fields): (string | undefined)[] {
  return Object.keys(intended).map((key) => differs(`label ${key}`, actual[key], intended[key]));
}

function compareEnvironment(actual: readonly unknown[], intended: readonly unknown[]): string[] {
  const added = actual.filter((entry) => !intended.includes(entry)).map((entry) => nameOf(entry));
  const missing = intended.filter((entry) => !actual.includes(entry)).map((entry) => nameOf(entry));
  return [
    ...added.map((name) => `The environment has ${name}, or a value of it, that was not asked for.`),
    ...missing.map((name) => `The environment lacks ${name} as it was asked for.`),
  ];
}

/** Names only: the value that should not be there may be a secret. */
function nameOf(entry: unknown): string {
  return String(entry).split("=")[0] ?? "";
}

function compareMounts(actual: readonly unknown[], intended: readonly unknown[]): string[] {
  const wanted = intended.map((entry) => {
    const { Type, Source, Target, ReadOnly } = fieldsOf(entry);
    return mountText({ Type, Source, Name: Source, Driver: "local", Destination: Target, RW: ReadOnly !== true });
  });
  const found = actual.map((entry) => mountText(fieldsOf(entry)));
  return [
    ...found.filter((text) => !wanted.includes(text)).map((text) => `It has a mount that was not asked for: ${text}.`),
    ...wanted.filter((text) => !found.includes(text)).map((text) => `It lacks a mount: ${text}.`),
    ...(found.length > new Set(found).size ? ["It has a mount twice."] : []),
  ];
}

/** A volume is known by its name: its path is the engine's own. */
function mountText({ Type, Source, Name, Driver, Destination, RW }: Fields): string {
  const source = Type === "volume" ? `${String(Driver)} ${String(Name)}` : String(Source);
  return `${String(Type)} ${source} at ${String(Destination)} ${RW === true ? "rw" : "ro"}`;
}

function compareNetworks(settings: Fields): string[] {
  const networks = Object.keys(fieldsOf(settings["Networks"])).filter((name) => name !== "none");
  const addressed = ["IPAddress", "GlobalIPv6Address", "Gateway", "IPv6Gateway"].filter(
    (key) => !isEmpty(settings[key]),
  );
  return [
    ...networks.map((name) => `It is connected to the network ${name}.`),
    ...addressed.map((key) => `It has a network address (${key}).`),
  ];
}

function differs(what: string, actual: unknown, intended: unknown): string | undefined {
  if (isDeepStrictEqual(withoutFalse(actual), withoutFalse(intended))) return undefined;
  if (isEmpty(actual) && isEmpty(intended)) return undefined;
  return `${what} is ${shown(actual)} instead of ${shown(intended)}.`;
}

/** Engines leave out fields that are false or empty objects, or fill them in. */
function withoutFalse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFalse);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== false && !isNothing(inner));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutFalse(inner)]));
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || isDeepStrictEqual(value, {});
}

/** At most a line: the seccomp profile alone has thousands of characters. */
function shown(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** True for a terminal size of zero, as containers without a terminal have it. */
function isZeroSize(value: unknown): boolean {
  return isDeepStrictEqual(value, [0, 0]);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

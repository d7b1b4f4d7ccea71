import type { GroupNetwork, InjectedSecret } from "../../domain/sandbox/egress.ts";
import { groupNameFault } from "../../domain/chats/group.ts";
import { networkOf } from "../resolve/network.ts";
import { isHeaderValue, notHeaderValue } from "../../lib/text/header-value.ts";
import { ownCommand } from "../../lib/process/own-command.ts";
import { project, shortestForm } from "../../lib/secrets/secret-forms.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { type Adapters, chatFault } from "../adapters.ts";
import type { ConfigFault } from "../faults.ts";
import { formatPath } from "../faults.ts";
import { checkMcp, mcpServers } from "../configured/mcp.ts";
import type { Config } from "../schema/config.ts";
import { seesImages } from "../../models/knowledge/capabilities.ts";
import { referencesOf } from "../../models/routes/routes.ts";
import { checkPolicies } from "./policy-checks.ts";
import { checkHeartbeats } from "./heartbeat-checks.ts";
import { checkAgents } from "./agent-checks.ts";
import { missing } from "./missing.ts";
import { checkPeople } from "./people-checks.ts";
import { timeZoneFault } from "../../lib/time/time-zone-fault.ts";

/** Finds faults between values: dangling names, chats used twice, an open server. */
export function crossCheck(config: Config, adapters: Adapters): ConfigFault[] {
  return [
    ...checkModels(config),
    ...checkAgents(config, adapters),
    ...checkGroups(config, adapters),
    ...checkNetworks(config),
    ...checkGateway(config, adapters),
    ...checkHeartbeats(config),
    ...checkPolicies(config, adapters),
    ...checkTimeZones(config),
    ...checkPeople(config, adapters),
    ...checkServices(config, adapters),
    ...checkMedia(config),
    ...checkMcp(config),
  ];
}

function checkModels({ models }: Config): ConfigFault[] {
  const providers = Object.keys(models.providers);
  const faults: ConfigFault[] = [];
  if (!Object.hasOwn(models.routes, models.default)) {
    faults.push(missing(["models", "default"], "route", models.default, Object.keys(models.routes)));
  }
  for (const route of Object.keys(models.routes)) {
    for (const [index, reference] of referencesOf(models.routes, route).entries()) {
      const provider = providerOf(reference);
      if (!providers.includes(provider)) {
        faults.push(missing(["models", "routes", route, index], "provider", provider, providers));
      }
    }
  }
  for (const reference of Object.keys(models.capabilities)) {
    const provider = providerOf(reference);
    if (!providers.includes(provider)) {
      faults.push(missing(["models", "capabilities", reference], "provider", provider, providers));
    }
  }
  return faults;
}

/** `provider/model` → `provider` */
export function providerOf(reference: string): string {
  return reference.slice(0, reference.indexOf("/"));
}

const tooPlain = `has fewer than ${shortestForm} letters and digits; it could not be told apart from other text in an answer`;

function checkGroups({ groups, channels, models }: Config, adapters: Adapters): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const places = new Map<string, string>();
  const channelNames = Object.keys(channels);
  for (const [name, group] of Object.entries(groups)) {
    const nameFault = groupNameFault(name);
    if (nameFault !== undefined) faults.push({ path: formatPath(["groups", name]), detail: `"${name}" ${nameFault}` });
    if (!channelNames.includes(group.channel)) {
      faults.push(missing(["groups", name, "channel"], "channel", group.channel, channelNames));
    }
    const chatIs = chatFault(adapters, group.channel, group.chat);
    if (chatIs !== undefined)
      faults.push({ path: formatPath(["groups", name, "chat"]), detail: `"${group.chat}" ${chatIs}` });
    if (group.model !== undefined && !Object.hasOwn(models.routes, group.model)) {
      faults.push(missing(["groups", name, "model"], "route", group.model, Object.keys(models.routes)));
    }
    const place = JSON.stringify([group.channel, group.chat]);
    const other = places.get(place);
    if (other !== undefined) {
      const detail = `chat "${group.chat}" of channel ${group.channel} already belongs to group ${other}`;
      faults.push({ path: formatPath(["groups", name, "chat"]), detail });
    }
    places.set(place, name);
  }
  return faults;
}

/** A secret goes only where its group or server may go anyway, and a request has room for one value per header. */
function checkNetworks(config: Config): ConfigFault[] {
  const ofGroups = Object.keys(config.groups).map((group) => ({
    owner: ["groups", group],
    network: networkOf(config, group),
  }));
  const ofServers = mcpServers(config).flatMap((server) =>
    server.kind === "stdio" ? [{ owner: ["mcp", "servers", server.name], network: server.network }] : [],
  );
  return [...ofGroups, ...ofServers].flatMap(({ owner, network }) =>
    network.secrets.flatMap((secret, index) => checkSecret({ owner, secret, index, network })),
  );
}

function checkSecret(options: {
  readonly owner: readonly string[];
  readonly secret: InjectedSecret;
  readonly index: number;
  readonly network: GroupNetwork;
}): ConfigFault[] {
  const { owner, secret, index: place, network } = options;
  const { allow, reflects, secrets } = network;
  const path = [...owner, "secrets", secret.name] as const;
  const kind = owner[0] === "groups" ? "group" : "server";
  const faults: ConfigFault[] = [];
  if (!isHeaderValue(secret.value)) faults.push({ path: formatPath([...path, "value"]), detail: notHeaderValue });
  if (project(secret.value).length < shortestForm)
    faults.push({ path: formatPath([...path, "value"]), detail: tooPlain });
  for (const [index, host] of secret.hosts.entries()) {
    const at = formatPath([...path, "hosts", index]);
    const other = secrets
      .slice(0, place)
      .find((earlier) => earlier.header === secret.header && earlier.hosts.includes(host));
    if (!allow.includes(host)) faults.push({ path: at, detail: `${host} is not in the network.allow of this ${kind}` });
    if (reflects.includes(host))
      faults.push({ path: at, detail: `${host} has reflects: true in network.allow, so it gets no secret` });
    if (other) faults.push({ path: at, detail: `${other.name} already sets ${secret.header} for ${host}` });
  }
  return faults;
}

/** Checks that providers for embedding, hearing and speaking exist and support it. */
function checkServices({ memory, media, models }: Config, adapters: Adapters): ConfigFault[] {
  const used = [
    { path: ["memory", "embeddings", "provider"], use: memory.embeddings, lacks: "embeddings" },
    { path: ["media", "transcription", "provider"], use: media.transcription, lacks: "transcriptions" },
    { path: ["media", "speech", "provider"], use: media.speech, lacks: "speech" },
  ];
  return used.flatMap(({ path, use, lacks }) => {
    if (typeof use === "string" || !("provider" in use)) return [];
    const { provider } = use;
    const settings = Object.hasOwn(models.providers, provider) ? models.providers[provider] : undefined;
    if (settings === undefined) return [missing(path, "provider", provider, Object.keys(models.providers))];
    if (adapters.providers.find(({ kind }) => kind === settings.kind)?.server) return [];
    const detail = `${provider} (kind ${settings.kind}) has no ${lacks}`;
    return [{ path: formatPath(path), detail }];
  });
}

function checkMedia({ media: { vision }, models }: Config): ConfigFault[] {
  const path = ["media", "vision"];
  if (vision === undefined) return [];
  if (!Object.hasOwn(models.routes, vision)) return [missing(path, "route", vision, Object.keys(models.routes))];
  if (seesImages(models, vision)) return [];
  const detail = `no model of the route ${vision} can see pictures; one that can is told by vision: true under models.capabilities`;
  return [{ path: formatPath(path), detail }];
}

function checkTimeZones({ timezone: shared, groups }: Config): ConfigFault[] {
  const own = Object.entries(groups).map(([name, { timezone }]) => ({ path: ["groups", name, "timezone"], timezone }));
  return [{ path: ["timezone"], timezone: shared }, ...own].flatMap(({ path, timezone }) => {
    const detail = timezone === undefined ? undefined : timeZoneFault(timezone);
    return detail === undefined ? [] : [{ path: formatPath(path), detail }];
  });
}

/**
 * A hook may be for a group that has come, or will come, by its chat: whether there is one now, only the running host
 * knows.
 */
export function hooksOfOtherGroups({ hooks, groups }: Config): ConfigFault[] {
  return Object.entries(hooks).flatMap(([name, { group }]) => {
    if (Object.hasOwn(groups, group)) return [];
    const near = nearest(group, Object.keys(groups));
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    const detail = `config.yaml has no group "${group}"${hint}`;
    const fix = `Calls are refused unless the group was added at run time: ${ownCommand("hooks list")}`;
    return [{ path: formatPath(["hooks", name, "group"]), detail, fix }];
  });
}

function checkGateway({ gateway, channels, hooks }: Config, adapters: Adapters): ConfigFault[] {
  if (gateway.token !== undefined) {
    return isHeaderValue(gateway.token) ? [] : [{ path: "gateway.token", detail: notHeaderValue }];
  }
  const faults: ConfigFault[] = [];
  for (const { name, traits } of adapters.channels) {
    if (!traits?.gateway || !Object.hasOwn(channels, name)) continue;
    faults.push({ path: "gateway.token", detail: `is missing; the ${name} channel needs one` });
  }
  // Without a token it takes only calls of hooks, which are signed.
  if (!isLoopback(gateway.host) && Object.keys(hooks).length === 0) {
    faults.push({ path: "gateway.token", detail: `is missing; ${gateway.host} can be reached from other machines` });
  }
  return faults;
}

/** True for an address of this machine. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

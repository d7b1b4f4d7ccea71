import { getBinaryNodeChild, getBinaryNodeChildren } from "@whiskeysockets/baileys";
import type { BinaryNode } from "@whiskeysockets/baileys";

import { bundleOf } from "./delivery.ts";
import { QueryRefused } from "./group-queries.ts";
import type { Companion } from "./person.ts";
import { attribute, bytesOf, childOf, deviceOf, firstChild, serverJid, stanza, textOf, userOf } from "./stanza.ts";
import type { World } from "./world.ts";

/** Keys of the client itself: how many are left, new ones; and key bundles of others. */
export function answerKeyQuery(world: World, companion: Companion, query: BinaryNode): BinaryNode[] {
  const request = firstChild(query);
  if (request?.tag === "count") return [stanza("count", { value: String(companion.preKeys.length) })];
  if (request?.tag === "digest") {
    return [stanza("digest", {}, [stanza("registration", {}, companion.registration)])];
  }
  if (request?.tag === "rotate") {
    companion.signedPreKey = childOf(request, "skey");
    return [];
  }
  if (request?.tag === "key") {
    const users = getBinaryNodeChildren(request, "user").map((user) => bundleFor(world, attribute(user, "jid")));
    return [stanza("list", {}, users)];
  }
  if (attribute(query, "type") === "set") takeKeys(companion, query);
  return [];
}

function takeKeys(companion: Companion, query: BinaryNode): void {
  companion.registration = bytesOf(query, "registration");
  companion.signedPreKey = childOf(query, "skey");
  companion.preKeys.push(...getBinaryNodeChildren(childOf(query, "list"), "key"));
}

function bundleFor(world: World, jid: string): BinaryNode {
  const person = world.personOf(jid);
  const device = deviceOf(jid);
  const companion = person?.companions.get(device);
  if (person && device === 0) return stanza("user", { jid }, person.phone.bundle());
  if (companion) return stanza("user", { jid }, bundleOf(companion));
  return stanza("user", { jid }, [stanza("error", { code: "404", text: "item-not-found" })]);
}

/** Answers account, device and LID queries. */
export function answerUserQuery(world: World, query: BinaryNode): BinaryNode[] {
  const usync = childOf(query, "usync");
  const wanted = getBinaryNodeChild(usync, "query")?.content;
  const names = new Set(Array.isArray(wanted) ? wanted.map(({ tag }) => tag) : []);
  const isLookUp = names.size === 1 && names.has("lid");
  if (isLookUp)
    world.lookUps.push(getBinaryNodeChildren(childOf(usync, "list"), "user").map(({ attrs }) => userOf(attrs["jid"])));
  if (isLookUp && world.faults.lidLookUp !== "answer")
    throw new QueryRefused(503, "service-unavailable", world.faults.lidLookUp === "mute");
  const users = getBinaryNodeChildren(childOf(usync, "list"), "user").map((user) => {
    const number = textOf(getBinaryNodeChild(user, "contact")).replace(/\D/g, "");
    const jid = user.attrs["jid"] ?? `${number}${serverJid}`;
    return stanza("user", { jid }, describeUser(world, jid, names));
  });
  const { sid, mode, context } = usync.attrs;
  return [
    stanza("usync", { sid, index: "0", last: "true", mode, context }, [
      stanza("result", {}, []),
      stanza("list", {}, users),
    ]),
  ];
}

function describeUser(world: World, jid: string, wanted: ReadonlySet<string>): BinaryNode[] {
  const person = world.personOf(jid);
  const content: BinaryNode[] = [];
  if (wanted.has("contact")) content.push(stanza("contact", { type: person ? "in" : "out" }));
  if (!person) return content;
  if (wanted.has("devices")) {
    const companions = [...person.companions.keys()].map(String);
    const devices = companions.map((id) => stanza("device", { id, "key-index": id }));
    const list = stanza("device-list", { hash: "2:x" }, [stanza("device", { id: "0" }), ...devices]);
    content.push(stanza("devices", {}, [list]));
  }
  if (wanted.has("lid") && userOf(jid) === person.pn) content.push(stanza("lid", { val: person.jid("lid") }));
  return content;
}

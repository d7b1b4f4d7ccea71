import { memberActor } from "../../../domain/people/actor.ts";
import { memberKey } from "../../../domain/people/person.ts";
import { isAtLeast } from "../../../domain/people/role.ts";
import { agentsOf, folderOf, mainAgent } from "../../../domain/turns/session.ts";
import { plainSentence, quotedName } from "../../../lib/text/plain-words.ts";
import { agentsNamed } from "../agents-addressed.ts";
import type { ChatCommand, ChatMemory, CommandServices, GivenCommand } from "../command.ts";

const shown = 20;
const textChars = 200;

/**
 * Shows what the group, or one of its agents, remembers besides what was said, and lets those whose words it is have it
 * forgotten.
 */
export const memory: ChatCommand = {
  name: "memory",
  help: "facts that I remember; forget your own with /memory forget N (admins: any)",
  takes: "[forget N]",
  needs: "member",
  needsMemory: true,
  perAgent: true,
  run: async (given, services) => {
    const words = (given.pending.argument ?? "").trim();
    if (words === "") return { text: await listFacts(given, services, agentsOf(given.group)[0]) };
    const [, number] = /^forget\s+(\d{1,3})$/i.exec(words) ?? [];
    if (number !== undefined) return { text: await forgetFact(given, Number(number), services) };
    if (!given.group.agents || /^forget\b/i.test(words))
      return { text: "Use /memory, or /memory forget N with a number from that list." };
    const named = agentsNamed(given.group, services, words);
    return { text: typeof named === "string" ? named : await listFacts(given, services, named[0]?.id) };
  },
};

async function listFacts(
  { group, pending: { message } }: GivenCommand,
  services: CommandServices,
  agent = mainAgent,
): Promise<string> {
  const { memories, shownLists, showTime } = services;
  const folder = folderOf(group, agent);
  const found = await memories.list(folder, { except: "conversation", isCurrent: true, limit: shown + 1 });
  const items = found.slice(0, shown).map((item) => ({ ...item, folder }));
  shownLists.shown(group.name, memberKey({ channel: message.channel, id: message.sender.id }), items);
  const name = group.agents && services.agentNameOf(group, agent);
  if (items.length === 0) return `${name ?? "I"} ${name === undefined ? "remember" : "remembers"} no facts yet.`;
  const lines = items.map(({ text, category, sender, time }, index) => {
    const who = sender === "" ? "" : `, ${quotedName(sender)}`;
    return `${index + 1}. ${cut(plainSentence(text))} (${category}, ${showTime(time, group)}${who})`;
  });
  const more = found.length > shown ? [`These are the newest ${shown}; there are more.`] : [];
  const head = name === undefined ? [] : [`What ${name} remembers:`];
  return [...head, ...lines, ...more, "To forget one: /memory forget N."].join("\n");
}

async function forgetFact(
  given: GivenCommand,
  number: number,
  { memories, shownLists, roles }: CommandServices,
): Promise<string> {
  const { group, pending, asker } = given;
  const { channel, sender } = pending.message;
  const who = { channel, id: sender.id };
  const list = shownLists.listFor(group.name, memberKey(who));
  if (!list) return "Use /memory first: the number refers to that list.";
  const item = list[number - 1];
  if (!item) return `The list has ${list.length} entries; there is no number ${number}.`;
  const folder = item.folder ?? group.name;
  const now = await memories.get(folder, item.id);
  if (!now) return `Forgot number ${number}.`;
  if (now.text !== item.text) return `Number ${number} has changed since it was shown. Use /memory again.`;
  if (!isAtLeast(asker.role, "admin") && !isOwn(now, roles.keysOf(who)))
    return `Only ${ownersOf(now)} or an admin can forget number ${number}.`;
  await memories.forget(folder, item.id, { actor: memberActor(sender.id), why: "command" });
  return `Forgot number ${number}: ${cut(plainSentence(item.text))}`;
}

/** True when it holds nobody else's words. */
function isOwn({ people = [] }: ChatMemory, keys: readonly string[]): boolean {
  return people.length > 0 && people.every((person) => keys.includes(person));
}

function ownersOf({ sender, people = [] }: ChatMemory): string {
  if (people.length > 1) return "the person whose words it holds";
  return people.length === 0 || sender === "" ? "the operator" : quotedName(sender);
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= textChars ? text : `${characters.slice(0, textChars - 1).join("")}…`;
}

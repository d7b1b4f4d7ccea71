/** What members care about, by the tool that it takes. */
const abilities: readonly (readonly [tool: string, ability: string])[] = [
  ["read_file", "read the files that you send"],
  ["shell", "run programs in a sandbox of this group's own"],
  ["send_file", "send you what comes of it"],
];

/**
 * What a chat is told when it has become a group: what the agent can do there, how to call it and how to stop it.
 * `isOffered`: may the agent use the tool of this name at all?
 */
export function greetingFor(assistantName: string, isOffered: (tool: string) => boolean): string {
  const can = abilities.filter(([tool]) => isOffered(tool)).map(([, ability]) => ability);
  const listed = new Intl.ListFormat("en", { type: "conjunction" }).format(can);
  return [
    `Hello, I am ${assistantName}, an AI agent. From now on I read what is written here.`,
    `Write @${assistantName} and what you want, and I answer.${listed === "" ? "" : ` I can ${listed}.`}`,
    "/stop ends what I am doing, /help lists what else you can write.",
  ].join("\n");
}

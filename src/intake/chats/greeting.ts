/** Abilities that members care about, by the tool that they need. */
const abilities: readonly (readonly [tool: string, ability: string])[] = [
  ["read_file", "read the files that you send"],
  ["shell", "run programs in a sandbox of this group's own"],
  ["send_file", "send you the results"],
];

/**
 * Greeting for a new group: what the agent can do there, and how to call and stop it. `isOffered` tells whether the
 * agent may use a tool.
 */
export function greetingFor(assistantName: string, isOffered: (tool: string) => boolean): string {
  const can = abilities.filter(([tool]) => isOffered(tool)).map(([, ability]) => ability);
  const listed = new Intl.ListFormat("en", { type: "conjunction" }).format(can);
  return [
    `Hello, I am ${assistantName}, an AI agent. From now on I read the messages in this chat.`,
    `Write @${assistantName} and a request, and I answer.${listed === "" ? "" : ` I can ${listed}.`}`,
    "/stop cancels my work, /help lists all commands.",
  ].join("\n");
}

import type { ChatCommand, ChatMount } from "../command.ts";

/** Says which folders of the machine the group has; where they are only the operator may know. */
export const mounts: ChatCommand = {
  name: "mounts",
  help: "folders of the host that I can use here",
  needs: "member",
  run: async ({ group }, { settings }) => {
    const found = await settings.mountsOf(group);
    if (found.length === 0) return { text: "I can use only the group's own folder here." };
    return { text: found.map((mount) => describeMount(mount, group.main)).join("\n") };
  },
};

function describeMount({ target, source, verdict, rule, reason }: ChatMount, isMain: boolean): string {
  const from = isMain ? `, from ${source}` : "";
  if (verdict !== "denied") return `${target}: ${verdict === "rw" ? "read and write" : "read only"}${from}`;
  return `${target}: refused${from} (${isMain ? reason : `rule: ${rule ?? "none"}`})`;
}

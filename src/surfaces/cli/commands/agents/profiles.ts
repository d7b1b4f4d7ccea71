import type { Command } from "commander";

import { namesFor, type ProfileNames } from "../../../../config/profiles/parse-profile.ts";
import {
  checkProfile,
  checkProfiles,
  describeProfileFault,
  profileOf,
} from "../../../../config/profiles/profile-files.ts";
import type { CheckedProfile } from "../../../../config/profiles/profile-files.ts";
import type { CommandContext } from "../../context.ts";
import { addLeaf } from "../../context.ts";

/** Profiles are read from their files, so none of it needs a running host. */
export function addProfilesCommand(program: Command, context: CommandContext): void {
  const profiles = program.command("profiles").description("list, show and check profiles of agents");

  addLeaf(profiles, "list", "list all profiles").action(async (_options: object, command: Command) => {
    context.outputOf(command).items(
      (await checkProfiles(context.paths.agents, await namesNow(context))).map(view),
      [
        { title: "name", of: (profile) => profile.name },
        { title: "state", of: (profile) => profile.state },
        { title: "route", of: (profile) => profile.route ?? "" },
        { title: "description", of: (profile) => profile.description ?? "" },
      ],
      `There are no profiles in ${context.paths.agents}.`,
    );
  });

  addLeaf(profiles, "show <name>", "show a profile").action(
    async (name: string, _options: object, command: Command) => {
      const profile = await profileOf(context.paths.agents, name, await namesNow(context));
      const output = context.outputOf(command);
      if (output.json) return output.object(profile);
      output.line(`${profile.name}: ${profile.description}`);
      if (profile.route !== undefined) output.line(`route: ${profile.route}`);
      if (profile.tools) output.line(`tools: ${profile.tools.join(", ") || "none"}`);
      if (profile.skills) output.line(`skills: ${profile.skills.join(", ") || "none"}`);
      for (const rule of profile.rules) output.line(`${rule.action}: ${rule.name}`);
      output.line("");
      output.line(profile.instructions);
    },
  );

  addLeaf(profiles, "check [name]", "check all profiles or one; exit 1 if one is invalid").action(
    async (name: string | undefined, _options: object, command: Command) => {
      const { agents } = context.paths;
      const names = await namesNow(context);
      const checked =
        name === undefined ? await checkProfiles(agents, names) : [await checkProfile(agents, name, names)];
      const output = context.outputOf(command);
      for (const each of checked) {
        if (output.json) output.object(view(each));
        const faults = each.faults.map((fault) => describeProfileFault(each.file, fault));
        output.line(faults.length === 0 ? `${each.name}: ok` : faults.join("\n"));
      }
      if (checked.length === 0) output.line(`There are no profiles in ${agents}.`);
      if (checked.some(({ faults }) => faults.length > 0)) context.exitCode = 1;
    },
  );
}

/** Routes and tools that profiles may name. */
export async function namesNow(context: CommandContext): Promise<ProfileNames> {
  const adapters = await context.adapters();
  const { config } = await context.loadConfig();
  return namesFor(config, adapters);
}

function view({ name, file, profile, faults }: CheckedProfile) {
  const { description, route, tools, skills } = profile ?? {};
  return { name, state: profile ? "ok" : "invalid", description, route, tools, skills, file, faults };
}

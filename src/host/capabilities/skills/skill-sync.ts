import type { Group } from "../../../domain/chats/group.ts";
import type { GroupSkills } from "../../../abilities/skills/group-skills.ts";
import { skillFolders } from "../../../abilities/skills/places.ts";
import { SkillSync } from "../../../abilities/skills/sync/skill-sync.ts";
import type { AppContext } from "../../context.ts";

/**
 * Looks once a week whether the sources of skills have something else, where the configuration says so and a group has
 * skills.
 */
export function createSkillSync(
  { home, environment, live, store, publish, clock, logger }: AppContext,
  stack: AsyncDisposableStack,
  options: {
    readonly groups: { list(): readonly Pick<Group, "name">[] };
    readonly skills: Pick<GroupSkills, "onSettled">;
  },
): SkillSync {
  const { paths } = home;
  const sync = stack.use(
    new SkillSync({
      lock: paths.skillLock,
      stateFile: paths.skillSync,
      isOn: () =>
        live.current.skillsSync === "weekly" &&
        options.groups.list().some(({ name }) => live.groupOf({ name }).skills !== "none"),
      compare: async (installed, signal) => {
        const { SkillInstaller } = await import("../../../abilities/skills/install/installer.ts");
        const places = skillFolders(paths, environment.checkout);
        const installer = new SkillInstaller({ places, now: () => clock.now(), variables: environment.variables });
        return installer.compare(installed, signal);
      },
      isOnRecord: async (run) => {
        const page = await store.events.before(Number.MAX_SAFE_INTEGER, { types: ["skills.synced"] }, 1);
        return page.events.some((event) => event.type === "skills.synced" && event.data.run === run);
      },
      publish,
      clock,
      logger,
    }),
  );
  const changed = (): void => void sync.changed();
  live.onChange(changed);
  options.skills.onSettled(changed);
  return sync;
}

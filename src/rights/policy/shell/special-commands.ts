import type { KnownCall, LineContext } from "./call.ts";
import type { Special } from "./known-commands.ts";
import { judgeCd, judgeDd, judgeKill, judgeRm, judgeRsync, judgeTar } from "./special/files.ts";
import { judgeFind } from "./special/find.ts";
import { judgeGit } from "./special/git.ts";
import { judgeAlias, judgeCommandWord, judgeEnv, judgeEval, judgeTrap, judgeXargs } from "./special/runners.ts";
import { judgeAwk, judgeSed } from "./special/sed-and-awk.ts";
import { judgeInterpreter, judgeShell, judgeSource } from "./special/shells.ts";

/** Special rules of some commands. */
export const specialCommands: Readonly<Record<Special, (call: KnownCall, line: LineContext) => void>> = {
  alias: judgeAlias,
  awk: judgeAwk,
  cd: judgeCd,
  command: judgeCommandWord,
  dd: judgeDd,
  env: judgeEnv,
  eval: judgeEval,
  find: judgeFind,
  git: judgeGit,
  interpreter: judgeInterpreter,
  kill: judgeKill,
  rm: judgeRm,
  rsync: judgeRsync,
  sed: judgeSed,
  shell: judgeShell,
  source: judgeSource,
  tar: judgeTar,
  trap: judgeTrap,
  xargs: judgeXargs,
};

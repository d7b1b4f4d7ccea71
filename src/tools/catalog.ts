import { containerTools } from "../../container/agent/tools/catalog.ts";
import type { ContainerTool } from "../../container/agent/tools/tool.ts";
import type { HostTool } from "./define-tool.ts";
import { proposeInstructions } from "./chat/propose-instructions.ts";
import { react } from "./chat/react.ts";
import { readResult } from "./results/read-result.ts";
import { sendFile } from "./chat/send-file.ts";
import { sendMessage } from "./chat/send-message.ts";
import { sessionsHistory } from "./sessions/sessions-history.ts";
import { sessionsList } from "./sessions/sessions-list.ts";
import { sessionsSend } from "./sessions/sessions-send.ts";
import { sessionsSpawn } from "./sessions/sessions-spawn.ts";
import type { CommandTool } from "./skills/command-tool.ts";

export type Tool = HostTool | ContainerTool | CommandTool;

const hostTools: readonly HostTool[] = [
  proposeInstructions,
  react,
  readResult,
  sendFile,
  sendMessage,
  sessionsHistory,
  sessionsList,
  sessionsSend,
  sessionsSpawn,
];

/** Every tool that comes with crabpot. */
export const builtInTools: readonly Tool[] = [...hostTools, ...containerTools];

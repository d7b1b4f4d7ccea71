import { containerTools } from "../../container/agent/tools/catalog.ts";
import type { ContainerTool } from "../../container/agent/tools/tool.ts";
import type { HostTool } from "./define-tool.ts";
import { memoryForget } from "./memory/memory-forget.ts";
import { memorySearch } from "./memory/memory-search.ts";
import { memoryStore } from "./memory/memory-store.ts";
import { proposeInstructions } from "./chat/propose-instructions.ts";
import { requestPackages } from "./packages/request-packages.ts";
import { react } from "./chat/react.ts";
import { readResult } from "./results/read-result.ts";
import { sendFile } from "./chat/send-file.ts";
import { sendMessage } from "./chat/send-message.ts";
import { sendVoice } from "./chat/send-voice.ts";
import { sessionsHistory } from "./sessions/sessions-history.ts";
import { sessionsList } from "./sessions/sessions-list.ts";
import { sessionsSend } from "./sessions/sessions-send.ts";
import { sessionsSpawn } from "./sessions/sessions-spawn.ts";
import type { CommandTool } from "./skills/command-tool.ts";
import { proposeSkill } from "./skills/propose-skill.ts";
import { getAvailableAgents, getAvailableSkills, getSkillContent, getSkillsForTask } from "./skills/skill-tools.ts";
import { spawnAgent } from "./sub-agents/spawn-agent.ts";
import { agentCancel, agentMessage, agentStatus } from "./sub-agents/sub-agent-tools.ts";

export type Tool = HostTool | ContainerTool | CommandTool;

const hostTools: readonly HostTool[] = [
  agentCancel,
  agentMessage,
  agentStatus,
  getAvailableAgents,
  getAvailableSkills,
  getSkillContent,
  getSkillsForTask,
  memoryForget,
  memorySearch,
  memoryStore,
  proposeInstructions,
  proposeSkill,
  react,
  readResult,
  requestPackages,
  sendFile,
  sendMessage,
  sendVoice,
  sessionsHistory,
  sessionsList,
  sessionsSend,
  sessionsSpawn,
  spawnAgent,
];

/** Every tool that comes with crabpot. */
export const builtInTools: readonly Tool[] = [...hostTools, ...containerTools];

import type { PersistentShell } from "../shell/persistent-shell.ts";
import type { ToolOutputFolder } from "../tool-output-folder.ts";
import { ChatTool } from "./chat-tool.ts";
import { EditFileTool } from "./edit-file.ts";
import { ListFilesTool } from "./list-files.ts";
import type { PathBase } from "./paths.ts";
import { ReadFileTool } from "./read-file.ts";
import { SearchFilesTool } from "./search-files.ts";
import { SendFileTool } from "./send-file.ts";
import { ShellTool } from "./shell.ts";
import { runnable } from "./tool.ts";
import type { RunnableTool } from "./tool.ts";
import { WriteFileTool } from "./write-file.ts";
import type { ToolName } from "../../../src/protocol/tools.ts";

export interface ToolParts {
  readonly shell: PersistentShell;
  readonly outputs: ToolOutputFolder;
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** All tools of this agent, by the name that the model calls them. */
export function createTools({ shell, outputs, home, environment }: ToolParts): ReadonlyMap<string, RunnableTool> {
  const base: PathBase = { home, workingDirectory: () => shell.workingDirectory };
  const tools = {
    shell: runnable(new ShellTool(shell, outputs)),
    read_file: runnable(new ReadFileTool(base)),
    write_file: runnable(new WriteFileTool(base)),
    edit_file: runnable(new EditFileTool(base)),
    list_files: runnable(new ListFilesTool(base)),
    search_files: runnable(new SearchFilesTool(base, environment)),
    send_message: runnable(new ChatTool("send_message")),
    send_file: runnable(new SendFileTool(base)),
    react: runnable(new ChatTool("react")),
  } satisfies Record<ToolName, RunnableTool>;
  return new Map(Object.entries(tools));
}

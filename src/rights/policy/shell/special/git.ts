import type { Argument } from "../arguments.ts";
import type { KnownCall, LineContext } from "../call.ts";
import { judgeByFacts } from "../judge-by-facts.ts";
import { gitSubcommands } from "../known-commands.ts";
import { has, readOptions, valuesOf } from "../options.ts";

const plainGitOptions = [
  "-C",
  "-P",
  "-c",
  "--no-pager",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--version",
  "--help",
];
const plainSettings =
  /^(?:user\.|author\.|committer\.|color\.|advice\.|core\.quotepath|init\.defaultbranch|commit\.gpgsign)/i;
const steeringSettings =
  /^(?:core\.(?:hookspath|pager|editor|sshcommand|fsmonitor|gitproxy|askpass|attributesfile|worktree)|alias\.|include|filter\.|diff\.|merge\.|pager\.|credential\.|url\.|gpg\.|sequence\.|http\.|remote\.|browser\.|man\.|interactive\.|init\.templatedir|safe\.|protocol\.|difftool\.|mergetool\.|trailer\.|submodule\.)/i;

export function judgeGit(call: KnownCall, line: LineContext): void {
  const { args, facts, piece } = call;
  const { findings } = line;
  const options = readOptions(args, { ...facts, values: ["-C", "-c"] }, true);
  const [subcommand, ...rest] = options.operands;
  const settings = valuesOf(options, ["-c"]);
  const isPlain = options.given.every(({ name }) => plainGitOptions.includes(name) || /^-[cC]./.test(name));
  if (!isPlain || settings.some(({ value, beginning }) => !plainSettings.test(value ?? beginning)))
    findings.add("high", piece, "makes git run other programs or work elsewhere");
  if (!subcommand) return;
  if (subcommand.value === undefined) return findings.add("high", piece, "does what is known only when it runs");
  const inner = gitSubcommands.get(subcommand.value);
  if (!inner) return findings.add("medium", piece, `runs git ${subcommand.value}, which is not known`);
  if (subcommand.value === "config") judgeGitConfig(rest, piece, line);
  if (subcommand.value === "push") judgeGitPush(rest, piece, line);
  judgeByFacts({ ...call, args: rest, facts: inner }, line);
}

function judgeGitConfig(args: readonly Argument[], piece: string, { findings }: LineContext): void {
  const options = readOptions(args, {});
  const asks = ["--get", "--get-all", "--get-regexp", "--list", "-l"];
  if (has(options, asks) || /^(?:get|list)$/.test(args[0]?.value ?? "")) return;
  if (args.some(steersGit)) findings.add("high", piece, "makes git run other programs or work elsewhere");
  if (has(options, ["-e", "--edit", "--global", "--system"]))
    findings.add("high", piece, "changes settings outside the repository");
}

function steersGit({ value, beginning }: Argument): boolean {
  return steeringSettings.test(value ?? beginning);
}

/** `+main` and `:main` rewrite and remove what others have as `--force` and `--delete` do. */
function judgeGitPush(args: readonly Argument[], piece: string, { findings }: LineContext): void {
  if (args.some(({ beginning }) => /^[+:]/.test(beginning))) findings.add("high", piece, "rewrites what others have");
}

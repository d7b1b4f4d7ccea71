import type { Redirection, SyntaxNode, Word, WordPart } from "unbash";

/** Longer commands are not looked at: nobody reads them. */
const maxChars = 4_096;

/**
 * True when each word of a bash command is what it says: no expansion, substitution, pattern, function or compound
 * command. So it does the same whenever it runs in a fresh shell, as far as its programs do.
 */
export async function isLiteralCommand(command: string): Promise<boolean> {
  if (command.length > maxChars || !command.isWellFormed()) return false;
  // Loaded with the first command that is asked about.
  const { parse } = await import("unbash");
  try {
    const { commands, errors = [] } = parse(command);
    return errors.length === 0 && commands.length > 0 && commands.every(isLiteral);
  } catch {
    return false;
  }
}

function isLiteral(node: SyntaxNode): boolean {
  if (node.type === "Statement") return isLiteral(node.command);
  if (node.type === "AndOr") return node.commands.every(isLiteral);
  if (node.type === "Pipeline") return node.commands.every(isLiteral);
  if (node.type === "Word") return isLiteralWord(node);
  if (node.type === "Redirect" || node.type === "HereString") return isLiteralRedirection(node);
  if (node.type !== "Command") return false;
  return node.name !== undefined && [node.name, ...node.prefix, ...node.suffix].every(isLiteral);
}

function isLiteralRedirection({ target, descriptor }: Exclude<Redirection, { type: "HereDoc" }>): boolean {
  return descriptor?.type !== "FileDescriptorVariable" && target !== undefined && isLiteralWord(target);
}

/** A word that bash takes as it stands, apart from its quotes. */
export function isLiteralWord({ text, parts }: Word): boolean {
  return !text.startsWith("~") && (parts ?? []).every(isLiteralPart);
}

function isLiteralPart(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(({ type }) => type === "Literal");
  return part.type === "Literal" || part.type === "SingleQuoted" || part.type === "AnsiCQuoted";
}

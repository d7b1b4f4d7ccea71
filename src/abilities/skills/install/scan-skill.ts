import { hiddenInProse } from "../../../lib/text/hidden-characters.ts";
import { shorten, visible } from "../../../lib/text/visible.ts";
import { type SkillTree, textOf } from "../tree/skill-tree.ts";

/** A warning about a skill, for the person who installs it. */
export interface Finding {
  readonly kind: "hidden characters" | "encoded text" | "runs what it fetches" | "orders to the agent" | "program";
  /** Path in the skill, and the line. */
  readonly where: string;
  readonly shows: string;
}

/** Things that a skill uses, by its files. Installing grants none of them. */
export interface Wants {
  readonly tools: readonly string[];
  /** Hosts that are named in addresses. */
  readonly hosts: readonly string[];
  /** Packages that it tells to install, each with its installer. */
  readonly packages: readonly string[];
}

const mostFindings = 50;
const mostListed = 50;
const shownChars = 120;

const suspicious: readonly { readonly kind: Finding["kind"]; readonly pattern: RegExp }[] = [
  {
    kind: "runs what it fetches",
    pattern:
      /\b(?:curl|wget|fetch)\b[^\n|;&]{0,400}\|\s*(?:sudo\s+)?(?:env\s+)?(?:ba|z|da|k)?(?:sh|python3?|node|perl|ruby)\b|\b(?:ba|z|da)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b|\beval\b[^\n]{0,80}\b(?:curl|wget|base64)\b|base64\s+(?:-d|--decode|-D)[^\n|]{0,200}\|\s*(?:ba|z|da)?sh\b/i,
  },
  {
    kind: "orders to the agent",
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b[^\n.]{0,40}\b(?:previous|prior|above|earlier|all|other|system|safety|these|those|any|the)\b[^\n.]{0,40}\b(?:instruction|rule|prompt|polic|guideline|restriction|message)|\bdo not (?:tell|inform|mention|show|reveal)\b[^\n.]{0,60}\b(?:user|member|operator|admin|people|human)|\bwithout (?:asking|telling|informing)\b[^\n.]{0,40}\b(?:user|member|operator|admin|people)|<\/?(?:system|host-note|instructions)\b/i,
  },
  {
    kind: "encoded text",
    pattern: /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{200,}={0,2}|(?:\\x[0-9a-fA-F]{2}){40,}|(?<![0-9a-fA-F])[0-9a-fA-F]{400,}/,
  },
];

/** Looks for what hides, deceives or fetches. It finds the clumsy; the container and the policy are what holds. */
export function scanSkill({ files }: SkillTree): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { path, bytes } of files) {
    const text = textOf(bytes);
    if (text === undefined) {
      if (isProgram(bytes))
        findings.push({ kind: "program", where: path, shows: "compiled code, which nobody can read" });
      continue;
    }
    for (const [index, line] of text.split("\n").entries()) findings.push(...scanLine(line, `${path}:${index + 1}`));
    if (findings.length > mostFindings) break;
  }
  return findings.slice(0, mostFindings);
}

function scanLine(line: string, where: string): Finding[] {
  const shows = shorten(visible(line.trim()), shownChars);
  const withoutBlanks = line.replaceAll(/[\t\r]/g, "").replace(/^\u{FEFF}/u, "");
  const hidden = withoutBlanks.search(hiddenInProse) >= 0;
  const found = suspicious.filter(({ pattern }) => pattern.test(line)).map(({ kind }) => kind);
  return [...(hidden ? ["hidden characters" as const] : []), ...found].map((kind) => ({ kind, where, shows }));
}

const installers =
  /\b(pip3?|npm|pnpm|yarn|apt(?:-get)?|cargo|go|gem|uv pip)\s+(?:install|add|i)\s+((?:(?:-[-\w=./]+|[@\w][\w@./:~^<>=![\],-]*)[ \t]*)+)/g;

const address = /\b(?:https?|wss?|ftp):\/\/([A-Za-z0-9.-]+\.[A-Za-z]{2,})/g;

/** Requested tools and network access. */
export function wantsOf(allowedTools: readonly string[], { files }: SkillTree): Wants {
  const texts = files.map(({ path, bytes }) => ({ path, text: textOf(bytes) ?? "" }));
  const hosts = texts.flatMap(({ text }) => [...text.matchAll(address)].map(([, host = ""]) => host.toLowerCase()));
  return { tools: listed(allowedTools), hosts: listed(hosts), packages: listed(texts.flatMap(packagesIn)) };
}

function packagesIn({ path, text }: { readonly path: string; readonly text: string }): string[] {
  const told = [...text.matchAll(installers)].flatMap(([, installer = "", names = ""]) =>
    names
      .trim()
      .split(/\s+/)
      .flatMap((name) => (name.startsWith("-") ? [] : [`${installer} ${name}`])),
  );
  const required = path.endsWith("requirements.txt")
    ? text.split("\n").filter((line) => /^[A-Za-z0-9]/.test(line))
    : [];
  return [...told, ...required.map((line) => `pip ${line.trim()}`)];
}

function listed(names: readonly string[]): string[] {
  return [...new Set(names)].map(visible).toSorted().slice(0, mostListed);
}

/** ELF, Mach-O, PE, Java, WebAssembly. */
function isProgram(bytes: Buffer): boolean {
  const head = bytes.subarray(0, 4).toString("latin1");
  return ["\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\0asm"].includes(head) || head.startsWith("MZ");
}

/** Where a package of an image can come from. */
export const packageManagers = ["apt", "pip", "npm"] as const;

export type PackageManager = (typeof packageManagers)[number];

/** The tool by which an agent asks for some. */
export const packageRequest = "request_packages";

/** What a group wants in its image besides what every agent has; names, some with a version. */
export type PackageLists = { readonly [Manager in PackageManager]: readonly string[] };

/** What a group's image is to have: packages that it names, and a browser with what that needs. */
export type ImageWish = PackageLists & { readonly browser?: true | undefined };

/** The word for the variant of the agent image that has a browser. */
export const browserVariant = "browser";

/** What that variant is made of: a browser, what drives it, what adds certificates that it trusts, and letters. */
const browserPackages: PackageLists = {
  apt: ["chromium", "fonts-liberation", "libnss3-tools"],
  pip: [],
  npm: ["playwright-core@1.65.1"],
};

/** All that is installed for it. */
export function packagesFor({ browser, apt, pip, npm }: ImageWish): PackageLists {
  const lists = { apt, pip, npm };
  return browser === true ? addPackages(lists, browserPackages) : sortPackages(lists);
}

/** Of one kind, in one image. */
export const mostPackages = 64;

/** npm's own bound for a name, and enough for a version behind it. */
const mostChars = 280;

/** Debian Policy 5.6.1 and 5.6.12. A hyphen at the end would mean to remove the package. */
const aptPackage = /^[a-z0-9][a-z0-9.+-]*[a-z0-9.+](?:=[0-9][A-Za-z0-9.+~:-]*)?$/;

/** PEP 508 and 440, as far as one version is named. */
const pipPackage =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._-]+(?:,[A-Za-z0-9._-]+)*\])?(?:==[0-9][A-Za-z0-9.!+_-]*)?$/;

/** A name as the registry gives them out today, with a version or a tag. */
const npmPackage = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*(?:@[A-Za-z0-9][A-Za-z0-9.+-]*)?$/;

const grammars: { readonly [Manager in PackageManager]: { readonly pattern: RegExp; readonly example: string } } = {
  apt: { pattern: aptPackage, example: "pandoc or pandoc=2.17.1.1-2~deb12u1" },
  pip: { pattern: pipPackage, example: "numpy, numpy==2.3.4 or requests[socks]" },
  npm: { pattern: npmPackage, example: "prettier, prettier@3.6.2 or @scope/name" },
};

/** What pip and npm would take for the name of a file. */
const fileEnding = /\.(?:tgz|tar|tar\.gz|tar\.bz2|tar\.xz|zip|whl|deb)$/i;

/**
 * Why this cannot be asked of that manager: the end of a sentence that begins with the text. Undefined when it can.
 * What is let through is no option, no path, no address, no pattern and no word that a shell reads as more than a word.
 */
export function packageFault(manager: PackageManager, text: string): string | undefined {
  const { pattern, example } = grammars[manager];
  if (text.length > mostChars) return `is longer than ${mostChars} characters`;
  if (!pattern.test(text)) return `is not the name of a package for ${manager}: write ${example}`;
  if (fileEnding.test(text)) return `is the name of a file for ${manager}, and only packages by name are installed`;
  return undefined;
}

export function countPackages(lists: PackageLists): number {
  return packageManagers.reduce((count, manager) => count + lists[manager].length, 0);
}

/** The same lists whoever wrote them in which order: sorted, each name once. */
export function sortPackages(lists: Partial<PackageLists>): PackageLists {
  const sorted = (manager: PackageManager): readonly string[] => [...new Set(lists[manager])].toSorted();
  return { apt: sorted("apt"), pip: sorted("pip"), npm: sorted("npm") };
}

/** What both ask for. Where they name other versions of one package, the second one counts. */
export function addPackages(lists: PackageLists, more: PackageLists): PackageLists {
  const joined = (manager: PackageManager): readonly string[] => {
    const named = new Set(more[manager].map((text) => nameOf(manager, text)));
    return [...lists[manager].filter((text) => !named.has(nameOf(manager, text))), ...more[manager]];
  };
  return sortPackages({ apt: joined("apt"), pip: joined("pip"), npm: joined("npm") });
}

/** For people: `apt: pandoc, jq; npm: prettier`. */
export function describePackages(lists: PackageLists): string {
  const named = packageManagers.filter((manager) => lists[manager].length > 0);
  return named.map((manager) => `${manager}: ${lists[manager].join(", ")}`).join("; ");
}

function nameOf(manager: PackageManager, text: string): string {
  if (manager === "npm") return text.replace(/(?<=.)@.*$/, "");
  if (manager === "apt") return text.replace(/=.*$/, "");
  const [name = text] = text.split(/\[|==/, 1);
  // To pip these are one.
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

/** Package managers for images. */
export const packageManagers = ["apt", "pip", "npm"] as const;

export type PackageManager = (typeof packageManagers)[number];

/** The tool by which an agent asks for some. */
export const packageRequest = "request_packages";

/** Extra packages in a group's image, by manager; names, some with a version. */
export type PackageLists = { readonly [Manager in PackageManager]: readonly string[] };

/** Wanted contents of a group's image: packages, and optionally a browser. */
export type ImageWish = PackageLists & { readonly browser?: true | undefined };

/** The word for the variant of the agent image that has a browser. */
export const browserVariant = "browser";

/** Packages of the browser image: browser, driver, certificate tool and fonts. */
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

/** Maximum packages per manager and image. */
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

/** File names that pip or npm would install from. */
const fileEnding = /\.(?:tgz|tar|tar\.gz|tar\.bz2|tar\.xz|zip|whl|deb)$/i;

/**
 * Returns why this is no valid package for the manager, as the end of a sentence; undefined when valid. Valid text is
 * never an option, path, address, pattern or shell syntax.
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

/** Joins two lists of packages. The second list's version of a package wins. */
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
  if (manager === "npm") return /^.[^@]*/s.exec(text)?.[0] ?? "";
  if (manager === "apt") return /^[^=]*/.exec(text)?.[0] ?? "";
  const [name = text] = text.split(/\[|==/, 1);
  // To pip these are one.
  return name.toLowerCase().replaceAll(/[-_.]+/g, "-");
}

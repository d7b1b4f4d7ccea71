/**
 * Table of commands. A command has one line here, by its name or by its name and first argument (`git+log`),
 * which comes first. A command without one is not known, and never low.
 */

/** Use of a command's operands. */
export type Kind =
  /** Takes all words as text; none is an option. */
  | "text"
  /** Looks at names, never into files. */
  | "names"
  /** Shows what is in these files, and in no others. */
  | "reads"
  /** Shows what is in any file of a folder: medium. */
  | "searches"
  /** Changes or removes the files: medium. */
  | "writes"
  /** Reads all but the last, which it writes: medium. */
  | "copies"
  /** Does something else that is known and bounded: medium. */
  | "acts"
  /** Makes the folder the shell's. */
  | "goes";

/** Use of the paths among the operands, and the effect that makes the call medium. */
export const kinds: Readonly<Record<Kind, { readonly on?: "reads" | "changes"; readonly does?: string }>> = {
  text: {},
  names: {},
  reads: { on: "reads" },
  searches: { on: "reads", does: "reads files that the line does not name" },
  writes: { on: "changes", does: "changes files" },
  copies: { on: "changes", does: "changes files" },
  acts: { does: "changes what runs" },
  goes: { on: "changes" },
};

/**
 * Options as they have to be written: `-n` alone or among other letters; `-n:` with a value, in the word or in the next
 * one; `--color?` with a value behind `=` or without; `-#` a number; `-r!` is
 * medium; `--` ends options where the command knows that.
 */
export type CommandRow = readonly [kind: Kind, names: string, options?: string, bounds?: Bounds];

/** Bounds on operands and options. */
export interface Bounds {
  /** Maximum number. */
  readonly most?: number;
  /** Shape of each. */
  readonly each?: RegExp;
  /** Shape of the first one, which is a program or a mode and no path. */
  readonly program?: RegExp;
  /** The first one is a pattern, unless `-e` or `--regexp` gives it. */
  readonly pattern?: true;
  /** Text that no argument may hold, also no option. */
  readonly never?: RegExp;
  /** The command takes no letters together: `-bc` is not `-b -c`. */
  readonly isWhole?: true;
}

const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])*/)`;
const substitution = ["/", "#", String.raw`\|`]
  .map((mark) => String.raw`s(?:${mark}(?:[^${mark}\\\n]|\\[^\n])*){2}${mark}[gpiI\d]*`)
  .join("|");
const sedCommand = String.raw`(?:${address}(?:,(?:${address}|\+\d+))?)?!?(?:[pdq=]|${substitution})`;
/** Prints, deletes or replaces lines: no command that writes or runs. */
const sedProgram = new RegExp(`^${sedCommand}(?: ?; ?${sedCommand})*;?$`);
/** Prints and adds up, of lines with a number: nothing that writes, runs, reads files or names variables of others. */
const awkProgram =
  /^(?:NR *[<>=!]=? *\d+ *)?(?:[\s$\d,;{}()=+*%.!~-]|"[-:,.= \t]*"|\b(?:print|BEGIN|END|NR|NF|FS|OFS|length|[a-z]|sum|count)\b)*$/;
/** Takes data apart: no modules, no files, no environment. */
const jqProgram = /^(?!.*\b(?:env|input|inputs|import|include)\b)[\w.[\]"|,() :?!=<>*+/-]*$/;
/** No `%n`, which sets a variable. */
const printfFormat = /^(?!-)(?:[^%]|%[-0-9.]*[sdbxfic]|%%)*$/;
const plus = /^\+/;
/** Formats that make git start gpg. */
const signature = /%G|signature/;
/** Words in a file are taken for arguments. */
const noList = /^(?!@)/;
/** Not the folder of before, which the line does not show. */
const folder = /^(?!-$)/;
/** No other machine. */
const archive = /^[^:]*$/;
const mode = /^(?:[ugoa]*[-+=][rwxXst]*|[0-7]+)$/;

export const table: readonly CommandRow[] = [
  // Text, and the shell's own.
  [
    "text",
    `
      echo true false : exit return break continue sleep seq basename dirname nproc arch logname tty`,
  ],
  ["text", "printf", "", { program: printfFormat }],
  ["text", "whoami pwd uptime groups"],
  ["names", "set", "-e -u -x -o", { most: 1, program: /^pipefail$/ }],
  ["names", "id", "-u -g -n -G"],
  ["names", "uname", "-a -s -r -m -n -o"],
  ["names", "hostname", "", { most: 0 }],
  ["names", "date", "-u -d: -R -I? --utc --date: --iso-8601? --rfc-3339:", { most: 1, program: plus }],
  ["names", "cal", "-3 -y -m"],
  ["names", "free", "-h -m -g -b -k"],
  ["names", "ps", "-e -f -u: -p:", { most: 1, program: /^a?u?x?$/ }],
  ["names", "which", "-a"],
  ["names", "type", "-a -t -p -P"],
  ["names", "command+-v"],
  ["names", "[ test", "-f -d -e -s -r -w -x -n -z -L -h -nt -ot -ef -eq -ne -lt -le -gt -ge -a"],

  ["goes", "cd", "-P -L --", { most: 1, each: folder }],

  // Names of files.
  [
    "names",
    "ls dir vdir",
    `
      -a -A -b -B -c -C -d -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -1 -Z -I:
      -w: --all --almost-all --color? --directory --full-time --group-directories-first --hide: --human-readable
      --ignore: --inode --no-group --numeric-uid-gid --recursive --reverse --size --sort: --time: --time-style: --`,
  ],
  ["names", "stat", "-c: -f -L -t --format: --printf: --dereference --terse --"],
  ["names", "readlink realpath", "-f -e -m -n -q -s -z --relative-to: --"],
  [
    "names",
    "du",
    `
      -a -b -c -d: -h -k -L -l -m -s -S -x -0 --all --apparent-size --exclude: --human-readable --max-depth:
      --summarize --total --`,
  ],
  ["names", "df", "-a -h -H -i -k -l -T -t: -x: --human-readable --inodes --local --print-type --total --"],
  [
    "names",
    "tree",
    `
      -a -d -f -i -l -x -P: -I: -p -s -h -u -g -D -F -r -t -c -U -L: -A -C -n -S --dirsfirst --noreport --prune
      --filelimit: --gitignore`,
  ],
  [
    "names",
    "find",
    `
      -H -L -P -a -o -and -or -not -name: -iname: -path: -ipath: -wholename: -regex: -iregex: -type: -size: -empty
      -mtime: -mmin: -atime: -amin: -ctime: -cmin: -newer: -perm: -user: -group: -links: -maxdepth: -mindepth:
      -delete -depth -mount -xdev -prune -print -print0 -ls -printf: -quit -readable -writable -executable -true -false`,
  ],
  ["names", "rg+--files", "-g: -t: -T: --glob: --type: --sort: --hidden --no-ignore -u"],

  // What is in files.
  ["reads", "cat tac", "-A -b -E -e -n -s -T -t -u -v --number --number-nonblank --show-all --squeeze-blank --"],
  ["reads", "head tail", "-# -n: -c: -q -v -z -f -F --lines: --bytes: --quiet --verbose --"],
  ["reads", "wc", "-c -m -l -L -w --bytes --chars --lines --words --"],
  ["reads", "nl", "-b: -n: -s: -v: -w: -i: --"],
  ["reads", "rev"],
  ["reads", "fold fmt", "-# -w: -s -b -u --width: --"],
  ["reads", "expand unexpand", "-t: -i -a --"],
  ["reads", "column", "-t -s: -o: -n: -x -c: -N: -R: -H: --"],
  [
    "reads",
    "cut",
    `
      -b: -c: -d: -f: -s -z --bytes: --characters: --complement --delimiter: --fields: --only-delimited
      --output-delimiter: --`,
  ],
  ["reads", "paste", "-d: -s -z --delimiters: --serial --"],
  ["reads", "join", "-1: -2: -a: -e: -i -j: -o: -t: -v: --header --"],
  ["reads", "comm", "-1 -2 -3 -i --output-delimiter: --total --"],
  ["text", "tr"],
  [
    "reads",
    "sort",
    `
      -b -c -C -d -f -g -h -i -k: -M -m -n -r -R -s -t: -u -V -z --check --field-separator: --human-numeric-sort
      --ignore-case --key: --numeric-sort --reverse --stable --unique --version-sort --`,
  ],
  [
    "reads",
    "uniq",
    `
      -c -d -D -f: -i -s: -u -w: -z --count --repeated --unique --ignore-case --skip-fields: --`,
    { most: 1 },
  ],
  ["reads", "shuf", "-n: -e -i: -r -z --head-count: --"],
  ["reads", "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum", "-b -t -z --tag --"],
  ["reads", "base64 base32", "-d -i -w: --decode --ignore-garbage --wrap: --"],
  ["reads", "od", "-A: -t: -j: -N: -w: -v -c -x -b -d --"],
  ["reads", "hexdump hd", "-b -c -C -d -n: -o -s: -v -x"],
  ["reads", "xxd", "-b -c: -e -g: -i -l: -o: -p -s: -u -ps", { most: 1, isWhole: true }],
  ["reads", "strings", "-a -n: -t: -e: -f -# --", { each: noList }],
  ["reads", "file", "-b -i -k -L -h -z --brief --mime --mime-type --mime-encoding --"],
  ["reads", "cmp", "-b -i: -l -n: -s --silent --quiet --verbose --"],
  [
    "searches",
    "diff",
    `
      -a -b -B -c -C: -d -E -i -q -s -t -T -u -U: -w -y -W: -Z -r! -N! --brief --color? --ignore-all-space
      --ignore-case --side-by-side --unified? --recursive! --`,
  ],
  ["reads", "zipinfo", "-1 -2 -h -l -m -s -t -v -z"],
  ["reads", "unzip+-l", "-q -v", { most: 1, each: archive }],
  [
    "reads",
    "tar+-tf tar+tf tar+-tvf tar+tvf tar+-tzf tar+tzf tar+-tjf tar+tjf tar+-tJf tar+tJf",
    "",
    { each: archive, most: 1 },
  ],
  ["reads", "pdfinfo pdffonts", "", { most: 1 }],
  ["reads", "bc", "-l -q -s -w", { most: 0 }],
  [
    "reads",
    "jq",
    `
      -r -c -e -S -s -n -C -M -j -a --raw-output --compact-output --sort-keys --slurp --tab --indent:`,
    { program: jqProgram },
  ],
  ["reads", "sed", "-n -E -r -s -u -z --quiet --silent --regexp-extended --", { program: sedProgram }],
  ["reads", "awk gawk mawk", "-F: --", { program: awkProgram }],
  [
    "reads",
    "grep egrep fgrep",
    `
      -# -a -b -c -e: -E -F -G -h -H -i -I -l -L -m: -n -o -P -q -s -U -v -w -x -y -z -Z -A: -B: -C:
      --after-context: --before-context: --color? --context: --count --regexp: --extended-regexp
      --files-with-matches --files-without-match --fixed-strings --ignore-case --invert-match --line-number
      --line-regexp --max-count: --no-filename --no-messages --only-matching --perl-regexp --quiet --text
      --with-filename --word-regexp -r! -R! --recursive! --include! --exclude! --exclude-dir! --`,
    { pattern: true },
  ],
  [
    "searches",
    "rg",
    `
      -A: -B: -C: -c -e: -E: -F -g: -H -i -I -l -L -m: -M: -n -N -o -p -P -q -S -s -t: -T: -U -u -v -w -x -.
      --after-context: --before-context: --color: --column --context: --count --count-matches --files-with-matches
      --files-without-match --fixed-strings --glob: --heading --hidden --iglob: --ignore-case --invert-match
      --json --line-number --max-count: --max-depth: --multiline --no-filename --no-heading --no-ignore
      --no-line-number --only-matching --pcre2 --sort: --smart-case --stats --type: --type-not: --word-regexp --`,
    { pattern: true },
  ],

  // git: names and messages; what is in files is medium.
  [
    "names",
    "git+status",
    `
      -s -b -u -uno -uall --short --branch --long --porcelain? --untracked-files? --ignored? --show-stash --`,
  ],
  [
    "names",
    "git+log git+shortlog",
    `
      -# -n: -g -s -e -i -E -F --abbrev-commit --all --all-match --author: --author-date-order --branches?
      --cherry-pick --committer: --date: --date-order --decorate? --first-parent --follow --format? --full-history
      --graph --grep: --invert-grep --left-right --max-count: --merges --name-only --name-status --no-color
      --no-decorate --no-merges --no-patch --numbered --numstat --oneline --pretty? --relative-date --remotes?
      --reverse --shortstat --simplify-by-decoration --since: --skip: --stat? --summary --summary --tags?
      --topo-order --until: --after: --before: -p! -u! -S! -G! -U! --patch! --unified! --`,
    { never: signature },
  ],
  [
    "searches",
    "git+diff git+show",
    `
      -# -p -u -U: -w -b -M -C --cached --staged --stat? --shortstat --numstat --name-only --name-status --summary
      --no-color --color? --oneline --format? --pretty? --word-diff? --unified: --no-patch -s --check --minimal
      --patience --histogram --diff-filter: --ignore-all-space --ignore-space-change --abbrev? --raw -z
      --no-ext-diff --no-textconv --`,
  ],
  [
    "searches",
    "git+blame git+annotate",
    "-L: -w -M -C -e -s -f -n -l -t --date: --show-email --porcelain --line-porcelain --",
  ],
  [
    "searches",
    "git+grep",
    `
      -n -i -l -L -c -w -E -F -P -v -h -H -o -q -A: -B: -C: -e: -I --count --files-with-matches --ignore-case
      --line-number --name-only --word-regexp --`,
  ],
  [
    "names",
    "git+rev-parse",
    `
      --abbrev-ref? --git-dir --is-inside-work-tree --short? --show-toplevel --verify --symbolic-full-name
      --show-prefix -q`,
  ],
  [
    "names",
    "git+rev-list",
    `
      -# -n: --all --count --max-count: --since: --until: --author: --merges --no-merges --first-parent --reverse
      --left-right`,
  ],
  [
    "names",
    "git+ls-files git+ls-tree",
    `
      -c -d -m -o -i -s -t -u -z -r -l --cached --deleted --modified --others --stage --exclude-standard
      --name-only --long --full-name --error-unmatch --`,
  ],
  [
    "names",
    "git+branch",
    `
      -a -r -l -v -vv --all --list --remotes --show-current --verbose --merged? --no-merged? --contains: --sort:
      --format: --no-color`,
    { most: 0, never: signature },
  ],
  [
    "names",
    "git+tag",
    "-l -n --list --sort: --contains: --merged? --points-at: --format:",
    { most: 0, never: signature },
  ],
  ["names", "git+remote", "-v --verbose", { most: 0 }],
  ["names", "git+remote+get-url", "--all --push"],
  ["names", "git+describe", "--tags --always --dirty? --long --abbrev: --all --exact-match"],
  ["names", "git+merge-base git+show-ref git+name-rev git+show-branch", "--heads --tags --all --is-ancestor"],
  [
    "names",
    "git+stash+list git+worktree+list git+reflog git+count-objects",
    "-v -# -n: --oneline --porcelain",
    { most: 0 },
  ],
  ["names", "git+check-ignore", "-v -q -n --"],
  ["names", "git+version", "", { most: 0 }],
  ["names", "git+config+--get", "", { most: 1, program: /^(?:user\.(?:name|email)|init\.defaultBranch)$/ }],

  // Changes files.
  ["writes", "touch", "-a -c -m -h -d: -t: --date: --no-create --"],
  ["writes", "mkdir", "-p -v -m: --parents --verbose --mode: --"],
  ["writes", "rmdir", "-p -v --parents --verbose --"],
  ["writes", "rm unlink", "-d -f -i -I -r -R -v --dir --force --recursive --verbose --"],
  ["writes", "mv", "-b -f -i -n -u -v -T --force --no-clobber --update --verbose --"],
  ["copies", "ln", "-f -n -r -s -T -v --force --no-dereference --relative --symbolic --verbose --"],
  ["writes", "chmod", "-c -f -R -v --recursive --verbose --", { program: mode }],
  ["writes", "truncate", "-c -s: --no-create --size: --"],
  ["writes", "tee", "-a -i -p --append --ignore-interrupts --"],
  [
    "writes",
    "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd",
    `
      -# -c -d -f -k -l -n -q -r -t -v -z --best --decompress --fast --force --keep --list --recursive --stdout
      --test --`,
  ],
  [
    "copies",
    "cp",
    `
      -a -d -f -H -i -L -l -n -P -p -R -r -s -T -u -v -x --archive --dereference --force --link --no-clobber
      --no-dereference --parents --preserve? --recursive --symbolic-link --update --verbose --`,
  ],
  ["copies", "install", "-d -D -m: -v --mode: --"],
  ["writes", "sed+-i", "-n -E -r -s -z --", { program: sedProgram }],
  ["acts", "kill", "-s: -l -TERM -KILL -INT -HUP -STOP -CONT -9 -15 --"],
  ["acts", "wait fg bg disown", "", { most: 1 }],
  ["acts", "jobs", "-l -p -r -s", { most: 0 }],
  ["acts", "pkill killall", "-f -9 -15 -x -u: -TERM -KILL"],
];

/** These only say which version they are. */
export const versions = `
      node+-v python+-V python3+-V go+version node python python3 uv git gcc clang make cmake cargo rustc
      java javac ruby perl php docker gh curl rg jq tsc bash`;

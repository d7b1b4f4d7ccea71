/** Options in a list are separated by blanks. */
export interface RunningProgram {
  /** Number of operands before the command that it runs. */
  readonly before?: number;
  /** Options that take the next word. */
  readonly valued?: string;
}

/** Programs that run a command which is among their arguments. */
export const runners: Readonly<Record<string, RunningProgram>> = {
  builtin: {},
  busybox: {},
  chrt: { before: 1 },
  command: {},
  doas: { valued: "-u -C" },
  env: { valued: "-u -C" },
  exec: { valued: "-a" },
  flock: { before: 1, valued: "-w -E" },
  ionice: { valued: "-c -n" },
  nice: { valued: "-n" },
  nohup: {},
  parallel: { valued: "-j" },
  setsid: {},
  stdbuf: { valued: "-i -o -e" },
  strace: { valued: "-e -o -s" },
  sudo: { valued: "-u -g -C -D -p" },
  taskset: { before: 1 },
  time: { valued: "-f -o" },
  timeout: { before: 1, valued: "-k -s" },
  toybox: {},
  unbuffer: {},
  watch: { valued: "-n" },
  xargs: { valued: "-a -d -E -I -L -n -P -s" },
};

export interface Interpreter {
  /** Options that take the next word, which is a file that is loaded if it has a slash. */
  readonly valued?: string;
  /** Options whose value is the program itself. */
  readonly inline?: string;
}

/** Programs that run a file of their arguments. */
export const interpreters: Readonly<Record<string, Interpreter>> = {
  sh: { valued: "-o +o", inline: "-c" },
  bash: { valued: "-o +o -O +O --rcfile --init-file", inline: "-c" },
  dash: { valued: "-o +o", inline: "-c" },
  zsh: { valued: "-o +o", inline: "-c" },
  ksh: { valued: "-o +o", inline: "-c" },
  python: { valued: "-W -X", inline: "-c -m" },
  node: { valued: "-r --require --import -C --conditions --loader --env-file", inline: "-e --eval -p --print" },
  deno: { inline: "eval" },
  bun: { inline: "-e --eval" },
  tsx: { inline: "-e --eval" },
  perl: { inline: "-e -E" },
  ruby: { valued: "-r -I -C", inline: "-e" },
  php: { inline: "-r" },
  lua: { valued: "-l", inline: "-e" },
  Rscript: { inline: "-e" },
};

/** The one device that keeps nothing. `/dev/stdout` may be any file. */
export const nowhere = "/dev/null";

/** Folders of the kernel, in which links lead everywhere. */
export const kernel = /^\/(?:dev|proc|sys)(?:\/|$)/;
/** Files in them that show nothing of anybody. */
export const harmless =
  /^\/dev\/(?:null|zero|u?random|stdin|tty)$|^\/proc\/(?:cpuinfo|filesystems|loadavg|meminfo|stat|uptime|version)$/;
/** Log-ins of the system. */
export const shadow = /^\/etc\/g?shadow/;
/** Paths that bash and awk open connections by. */
export const network = /\/dev\/(?:tcp|udp)\/|^\/inet[46]?\//;

/** Files that programs run or are steered by when they start. */
export const steersPrograms = new RegExp(
  String.raw`(?:^|/)(?:\.git(?:$|/(?:hooks|config|info|modules)(?:/|$))|\.gitconfig$|\.config/git/|\.ssh(?:/|$)` +
    String.raw`|\.(?:bash\w*|profile|zsh\w*|inputrc|npmrc|envrc?)$)`,
);

/** A pattern for hidden files. */
export const hiddenPattern = /(?:^|\/)\.[^/.]*[*?[]/;

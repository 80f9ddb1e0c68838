// What the set-up needs from the machine it runs on, that machine itself, and which Linux
// distribution it has. The set-up reaches the system only through `Host`, so that its tests can
// play any system.

/** The Linux distribution; empty strings where os-release does not say. */
export interface Distribution {
  /** "debian", "ubuntu", "fedora", … */
  id: string;
  /** The distributions that this one descends from, and itself. */
  family: string[];
  /** "bookworm", "noble", … */
  codename: string;
}

/** Reads os-release; undefined on a system without it. */
export async function readDistribution(host: Host): Promise<Distribution | undefined> {
  const text = await host.readText("/etc/os-release") ?? await host.readText("/usr/lib/os-release");
  if (text === undefined) return undefined;
  const field = (name: string) =>
    text.match(new RegExp(`^${name}=["']?([^"'\n]*)`, "m"))?.[1]?.trim() ?? "";
  const id = field("ID");
  const family = [id, ...field("ID_LIKE").split(/\s+/)].filter((name) => name !== "");
  return { id, family, codename: field("VERSION_CODENAME") };
}

/** How a command ended. */
export interface Outcome {
  /** True if the command exists and left with status 0. */
  ok: boolean;
  /** The text that it wrote to its standard output. */
  output: string;
}

/** How to run a command. */
export interface RunOptions {
  /** Variables for the command, each unless the caller's environment sets it already. */
  env?: Record<string, string>;
  /** Text for its standard input, which is empty otherwise. */
  input?: string;
  /** Seconds after which the command is ended. Default: never. */
  seconds?: number;
}

/** The machine, as far as the set-up can see and change it. */
export interface Host {
  readonly os: typeof Deno.build.os;
  readonly isRoot: boolean;
  /** Runs a command to its end; a command that does not exist is a failed one. Never throws. */
  run(command: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** The text of a file, or undefined where it cannot be read. */
  readText(path: string): Promise<string | undefined>;
  /** Runs `task` while no other set-up of this user runs on this machine. */
  exclusively<T>(task: () => Promise<T>): Promise<T>;
  /** Time at which the last failure was noted, in milliseconds since 1970; 0 for never. */
  lastFailure(): Promise<number>;
  /** Notes that an attempt failed now. */
  noteFailure(): Promise<void>;
  /** Tells the user one line. */
  report(line: string): void;
}

/** The machine that this process runs on. */
export function localHost(): Host {
  const userId = Deno.uid();
  const temporary = Deno.env.get("TMPDIR") ?? Deno.env.get("TEMP") ?? "/tmp";
  const lockPath = `${temporary}/quern-setup-${userId ?? "user"}.lock`;
  const failurePath = `${temporary}/quern-setup-${userId ?? "user"}.failed`;

  return {
    os: Deno.build.os,
    isRoot: userId === 0,
    run: runCommand,
    readText: (path) => Deno.readTextFile(path).catch(() => undefined),
    exclusively: (task) => withFileLock(lockPath, task),
    lastFailure: async () => {
      const info = await Deno.stat(failurePath).catch(() => undefined);
      return info?.mtime?.getTime() ?? 0;
    },
    noteFailure: () => Deno.writeTextFile(failurePath, "").catch(() => {}),
    report: (line) => {
      Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
    },
  };
}

async function runCommand(
  [program = "", ...args]: readonly string[],
  { env = {}, input = "", seconds }: RunOptions = {},
): Promise<Outcome> {
  try {
    const child = new Deno.Command(program, {
      args,
      env: { ...env, ...Deno.env.toObject() },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
      ...(seconds === undefined ? {} : { signal: AbortSignal.timeout(seconds * 1000) }),
    }).spawn();
    const writer = child.stdin.getWriter();
    // A command that never reads its input closes the pipe: not a failure of the command.
    await writer.write(new TextEncoder().encode(input)).catch(() => {});
    await writer.close().catch(() => {});
    const { success, stdout } = await child.output();
    return { ok: success, output: new TextDecoder().decode(stdout) };
  } catch {
    return { ok: false, output: "" };
  }
}

/** The lock is the kernel's: it ends with the process, however that ends. */
async function withFileLock<T>(path: string, task: () => Promise<T>): Promise<T> {
  let file: Deno.FsFile | undefined;
  try {
    file = await Deno.open(path, { write: true, create: true });
    await file.lock(true);
  } catch {
    // Without the lock the package manager's own lock still keeps two installations apart.
  }
  try {
    return await task();
  } finally {
    file?.close();
  }
}

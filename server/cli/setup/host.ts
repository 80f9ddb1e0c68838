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

// Installs Mesa's software Vulkan driver with apt, from Debian's backports where Debian's own is
// old; elsewhere, the command by which people install it. It names no server: the backports come
// from the mirror that the machine already uses.

/** Mesa 25 runs compute shaders 4 to 12 times faster than the 22.3 of Debian 12. */
export const FAST_MESA_VERSION = 25;

/** Debian releases whose own Mesa is older than that and whose backports hold a newer one. */
const RELEASES_WITH_BACKPORTS = ["bookworm"];

/** Mesa's Vulkan drivers, the software one among them, and the Vulkan loader. */
const PACKAGES = ["mesa-vulkan-drivers", "libvulkan1"] as const;

const SOURCES_PATH = "/etc/apt/sources.list.d/quern-backports.list";

const UPDATE_SECONDS = 120;

// Without a network every server would otherwise be tried for minutes.
const NETWORK_OPTIONS = ["Retries=1", "http::Timeout=15", "https::Timeout=15"]
  .map((option) => `--option=Acquire::${option}`);

// Another installation may be under way.
const LOCK_OPTIONS = ["--option=DPkg::Lock::Timeout=120"];

/** The backports of this release, if it has a faster Mesa there. */
export function backportsOf(distribution: Distribution | undefined): string | undefined {
  return distribution?.id === "debian" && RELEASES_WITH_BACKPORTS.includes(distribution.codename)
    ? `${distribution.codename}-backports`
    : undefined;
}

/** The installed version of Mesa's Vulkan drivers, like "22.3.6-1+deb12u1"; undefined for none. */
export async function installedMesa(host: Host): Promise<string | undefined> {
  const query = [
    "dpkg-query",
    "--show",
    "--showformat=${db:Status-Status} ${Version}",
    PACKAGES[0],
  ];
  const { output } = await host.run(query);
  const [status, version] = output.split(" ");
  return status === "installed" ? version : undefined;
}

/** The words to put before a command that needs root rights; undefined where they cannot be had. */
export async function aptPrivilege(
  host: Host,
  distribution: Distribution | undefined,
): Promise<string[] | undefined> {
  if (host.os !== "linux" || !distribution?.family.includes("debian")) return undefined;
  if (!(await host.run(["apt-get", "--version"])).ok) return undefined;
  if (host.isRoot) return [];
  const sudo = await host.run(["sudo", "--non-interactive", "true"]);
  return sudo.ok ? ["sudo", "--non-interactive"] : undefined;
}

/**
 * Installs or upgrades the Vulkan loader and Mesa's drivers.
 *
 * @param privilege what {@linkcode aptPrivilege} answered
 * @returns the suite that they came from, or undefined if apt could not install them
 */
export async function installMesa(
  host: Host,
  distribution: Distribution,
  privilege: string[],
): Promise<string | undefined> {
  const asRoot = (command: string[], options?: RunOptions) =>
    host.run([...privilege, "env", "DEBIAN_FRONTEND=noninteractive", ...command], options);
  const update = () =>
    asRoot(["apt-get", "update", ...NETWORK_OPTIONS], { seconds: UPDATE_SECONDS });
  const install = async (...from: string[]) => {
    const options = ["-y", "--no-install-recommends", ...NETWORK_OPTIONS, ...LOCK_OPTIONS];
    return (await asRoot(["apt-get", "install", ...options, ...from, ...PACKAGES])).ok;
  };

  await update();
  const backports = await findBackports(host, distribution);
  if (backports?.source) {
    await asRoot(["tee", SOURCES_PATH], { input: `${backports.source}\n` });
    await update();
  }
  if (backports && await install("-t", backports.suite)) return backports.suite;
  // A source that cannot be reached must not stay behind and break the user's next update.
  if (backports?.source) await asRoot(["rm", "-f", SOURCES_PATH]);
  return await install() ? distribution.codename : undefined;
}

/** The command line that does by hand what {@linkcode installMesa} does. */
export async function aptCommand(host: Host, distribution: Distribution): Promise<string> {
  const backports = await findBackports(host, distribution);
  const source = backports?.source;
  const addSource = source ? `echo "${source}" | sudo tee ${SOURCES_PATH} && ` : "";
  const from = backports ? ` -t ${backports.suite}` : "";
  return `${addSource}sudo apt-get update && sudo apt-get install -y${from} ${PACKAGES.join(" ")}`;
}

/**
 * Where apt can get the backports; undefined if there are none or no mirror is known.
 * apt knows its mirrors only after an update. `source` is the line that it lacks, if any.
 */
async function findBackports(
  host: Host,
  distribution: Distribution,
): Promise<{ suite: string; source?: string } | undefined> {
  const suite = backportsOf(distribution);
  if (suite === undefined) return undefined;
  const format = "$(RELEASE) $(REPO_URI)";
  const { output } = await host.run(["apt-get", "indextargets", "--format", format]);
  const mirrors = new Map(output.split("\n").map((line) => line.split(" ") as [string, string]));
  if (mirrors.has(suite)) return { suite };
  const mirror = mirrors.get(distribution.codename);
  return mirror ? { suite, source: `deb ${mirror} ${suite} main` } : undefined;
}

const COMMANDS: Record<string, string> = {
  fedora: "sudo dnf install -y mesa-vulkan-drivers vulkan-loader",
  arch: "sudo pacman -S --needed vulkan-swrast vulkan-icd-loader",
  alpine: "sudo apk add mesa-vulkan-swrast vulkan-loader",
  suse: "sudo zypper install -y libvulkan_lvp libvulkan1",
};

/** How to get a WebGPU adapter on this system: one clause, with the exact command. */
export async function installationAdvice(
  host: Host,
  distribution: Distribution | undefined,
): Promise<string> {
  if (host.os === "darwin") return "macOS brings Metal itself: there is no driver to install";
  if (host.os === "windows") return "Windows needs the graphics driver of the GPU's maker";
  const command = await installationCommand(host, distribution);
  return command === undefined
    ? "install a Vulkan loader and Mesa's Vulkan drivers with the system's package manager"
    : `to install a driver, run: ${command}`;
}

/** The command that installs Mesa's Vulkan drivers, on the Linux distributions where it is known. */
export async function installationCommand(
  host: Host,
  distribution: Distribution | undefined,
): Promise<string | undefined> {
  if (distribution?.family.includes("debian")) return await aptCommand(host, distribution);
  const name = distribution?.family.find((member) => member in COMMANDS);
  return name && COMMANDS[name];
}

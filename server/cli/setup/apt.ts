// Installs Mesa's software Vulkan driver with apt, from Debian's backports where Debian's own is
// old; elsewhere, the command by which people install it. It names no server: the backports come
// from the mirror that the machine already uses.

import type { Distribution, Host, RunOptions } from "./host.ts";

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

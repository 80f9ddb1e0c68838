// The set-up on machines that are played: what it runs, and what it tells, in each case.
// `PlayedHost` holds the state of a machine and answers the commands that the set-up may run.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ensureAdapter } from "../../../../server/cli/setup/mod.ts";
import type { Host, Outcome, RunOptions } from "../../../../server/cli/setup/host.ts";

const BOOKWORM = 'ID=debian\nVERSION_CODENAME=bookworm\nPRETTY_NAME="Debian GNU/Linux 12"\n';
const NOBLE = "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n";

class PlayedHost implements Host {
  os: Host["os"] = "linux";
  isRoot = true;
  hasApt = true;
  hasSudo = false;
  /** Servers by the suites that they hold, each with its version of Mesa. */
  reachable: Record<string, string> = {};
  sources = ["bookworm http://mirror.test/debian/"];
  mesa: string | undefined;
  gpu: string | undefined;
  failedAt = 0;
  osRelease: string | undefined = BOOKWORM;
  readonly changes: string[] = [];
  readonly reports: string[] = [];
  #added: string | undefined;

  run(command: readonly string[], { input }: RunOptions = {}): Promise<Outcome> {
    const root = this.isRoot || command[0] === "sudo";
    const start = ["sudo", "--non-interactive", "env", "DEBIAN_FRONTEND=noninteractive"]
      .reduce((rest, word) => rest[0] === word ? rest.slice(1) : rest, command);
    return Promise.resolve(this.#answer(start, input, root));
  }

  #answer(command: readonly string[], input: string | undefined, root: boolean): Outcome {
    const [program = "", action] = command;
    if (program === Deno.execPath()) return success(this.gpu ?? (this.mesa ? "llvmpipe" : ""));
    if (program === "true") return { ok: root && this.hasSudo, output: "" };
    if (!this.hasApt) return failure;
    if (program === "dpkg-query") return this.mesa ? success(`installed ${this.mesa}`) : failure;
    if (action === "--version") return success("apt 2.6.1");
    if (action === "indextargets") return success(this.#indexTargets().join("\n"));
    if (!root) throw new Error(`Cannot run ${program}: the user is not root`);
    return this.#change(command, input);
  }

  #change(command: readonly string[], input: string | undefined): Outcome {
    const [program = "", action = ""] = command;
    const suite = command.includes("-t") ? command[command.indexOf("-t") + 1] : undefined;
    this.changes.push([program, action, ...(suite ? ["-t", suite] : [])].join(" "));
    if (program === "tee") this.#added = input;
    if (program === "rm") this.#added = undefined;
    if (action !== "install") return success("");
    const version = this.reachable[suite ?? "bookworm"];
    if (!version || (suite && !this.#indexTargets().some((line) => line.startsWith(suite)))) {
      return failure;
    }
    this.mesa = version;
    return success("");
  }

  #indexTargets(): string[] {
    const [, mirror, suite] = this.#added?.split(" ") ?? [];
    return suite ? [...this.sources, `${suite} ${mirror}`] : this.sources;
  }

  readText(path: string): Promise<string | undefined> {
    return Promise.resolve(path === "/etc/os-release" ? this.osRelease : undefined);
  }

  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return task();
  }

  lastFailure(): Promise<number> {
    return Promise.resolve(this.failedAt);
  }

  noteFailure(): Promise<void> {
    this.failedAt = Date.now();
    return Promise.resolve();
  }

  report(line: string): void {
    this.reports.push(line);
  }
}

const failure: Outcome = { ok: false, output: "" };

function success(output: string): Outcome {
  return { ok: true, output };
}

function play(state: Partial<PlayedHost>): PlayedHost {
  return Object.assign(new PlayedHost(), state);
}

const EVERYTHING = { "bookworm": "22.3.6-1", "bookworm-backports": "25.0.7-2~bpo12+1" };

Deno.test("ensureAdapter() changes nothing where a GPU is found", async () => {
  const host = play({ gpu: "Radeon RX 9070", reachable: EVERYTHING });
  assertEquals(await ensureAdapter(host), "WebGPU runs on Radeon RX 9070");
  assertEquals(host.changes, []);
  assertEquals(host.reports, []);
});

Deno.test("ensureAdapter() installs from the backports of the machine's own mirror", async () => {
  const host = play({ reachable: EVERYTHING });
  assertStringIncludes(await ensureAdapter(host), "installed from bookworm-backports");
  assertEquals(host.changes, [
    "apt-get update",
    "tee /etc/apt/sources.list.d/quern-backports.list",
    "apt-get update",
    "apt-get install -t bookworm-backports",
  ]);
  assertEquals(host.reports.length, 1);
});

Deno.test("ensureAdapter() adds no source where the backports are there", async () => {
  const host = play({ reachable: EVERYTHING });
  host.sources.push("bookworm-backports http://mirror.test/debian/");
  assertStringIncludes(await ensureAdapter(host), "installed from bookworm-backports");
  assertEquals(host.changes, ["apt-get update", "apt-get install -t bookworm-backports"]);
});

Deno.test("ensureAdapter() does nothing the second time", async () => {
  const host = play({ reachable: EVERYTHING });
  await ensureAdapter(host);
  const changes = host.changes.length;
  assertEquals(await ensureAdapter(host), "WebGPU runs on llvmpipe");
  assertEquals(host.changes.length, changes);
});

Deno.test("ensureAdapter() falls back to the release's own Mesa and leaves no source", async () => {
  const host = play({ reachable: { bookworm: "22.3.6-1" } });
  const line = await ensureAdapter(host);
  assertStringIncludes(line, "slow Mesa 22.3.6-1");
  assertStringIncludes(line, "-t bookworm-backports mesa-vulkan-drivers libvulkan1");
  assertEquals(host.changes.slice(-3), [
    "apt-get install -t bookworm-backports",
    "rm -f",
    "apt-get install",
  ]);
});

Deno.test("ensureAdapter() upgrades an old Mesa of Debian 12", async () => {
  const host = play({ mesa: "22.3.6-1", reachable: EVERYTHING });
  assertStringIncludes(await ensureAdapter(host), "installed from bookworm-backports");
  assertEquals(host.mesa, EVERYTHING["bookworm-backports"]);
});

Deno.test("ensureAdapter() tries an upgrade that failed again only a day later", async () => {
  const host = play({ mesa: "22.3.6-1" });
  await ensureAdapter(host);
  const changes = host.changes.length;
  assert(changes > 0);
  await ensureAdapter(host);
  assertEquals(host.changes.length, changes);
  host.failedAt -= 25 * 60 * 60 * 1000;
  await ensureAdapter(host);
  assert(host.changes.length > changes);
});

Deno.test("ensureAdapter() keeps a Mesa that has no faster one in its distribution", async () => {
  const host = play({ mesa: "23.2.1-1ubuntu3", osRelease: NOBLE });
  assertEquals(await ensureAdapter(host), "WebGPU runs on llvmpipe");
  assertEquals(host.changes, []);
});

Deno.test("ensureAdapter() uses sudo where it asks for no password", async () => {
  const host = play({ isRoot: false, hasSudo: true, reachable: EVERYTHING });
  assertStringIncludes(await ensureAdapter(host), "installed from bookworm-backports");
});

Deno.test("ensureAdapter() carries on without a network", async () => {
  const host = play({});
  assertStringIncludes(await ensureAdapter(host), "apt could not install the driver");
});

Deno.test("ensureAdapter() asks about a driver that is installed and not found", async () => {
  const host = play({ gpu: "", mesa: "25.0.7-2~bpo12+1", reachable: EVERYTHING });
  assertStringIncludes(await ensureAdapter(host), "VK_DRIVER_FILES");
  assertEquals(host.changes, []);
});

const ADVICE: [name: string, state: Partial<PlayedHost>, advice: RegExp][] = [
  [
    "Debian 12 without root",
    { isRoot: false },
    /echo "deb http:\/\/mirror.test\/debian\/ bookworm-backports main" \| sudo tee .* install -y -t/,
  ],
  ["Debian 12 before its first update", { isRoot: false, sources: [] }, /install -y mesa-vulkan/],
  ["Ubuntu without root", { isRoot: false, osRelease: NOBLE }, /sudo apt-get update && .* mesa-/],
  ["Fedora", { hasApt: false, osRelease: "ID=fedora\n" }, /dnf install -y mesa-vulkan-drivers/],
  ["a child of Arch", { hasApt: false, osRelease: "ID=manjaro\nID_LIKE=arch\n" }, /pacman -S/],
  ["Alpine", { hasApt: false, osRelease: 'ID="alpine"\n' }, /apk add mesa-vulkan-swrast/],
  ["a Linux without os-release", { hasApt: false, osRelease: undefined }, /package manager/],
  ["macOS", { hasApt: false, os: "darwin" }, /no driver to install/],
  ["Windows", { hasApt: false, os: "windows" }, /graphics driver/],
];

for (const [name, state, advice] of ADVICE) {
  Deno.test(`ensureAdapter() says what to do on ${name}`, async () => {
    const host = play({ ...state, reachable: EVERYTHING });
    assertMatch(await ensureAdapter(host), advice);
    assertEquals(host.changes, []);
  });
}

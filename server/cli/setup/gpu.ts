// Makes sure that WebGPU finds an adapter: where there is none it installs Mesa's software Vulkan
// driver, or says how to. It never throws.

import {
  aptPrivilege,
  backportsOf,
  type Distribution,
  FAST_MESA_VERSION,
  type Host,
  installationAdvice,
  installedMesa,
  installMesa,
  readDistribution,
} from "./host.ts";

/** An upgrade that failed, as it does without a network, is not tried again for so long. */
const RETRY_MILLISECONDS = 24 * 60 * 60 * 1000;

const PROBE_SECONDS = 60;

/** The adapters that the machine offers to WebGPU. */
type Assessment =
  | { state: "ready"; adapter: string }
  | { state: "slow"; adapter: string; mesa: string }
  | { state: "missing" };

/**
 * Makes a WebGPU adapter available where that is possible without asking the user.
 *
 * Quick where an adapter is there. Safe to run again, and by several processes at once.
 *
 * @returns one line that says what was found or done
 */
export async function ensureAdapter(host: Host): Promise<string> {
  const distribution = host.os === "linux" ? await readDistribution(host) : undefined;
  const before = await assess(host, distribution);
  if (before.state === "ready") return describe(before);
  return host.exclusively(() => improve(host, distribution));
}

async function improve(host: Host, distribution: Distribution | undefined): Promise<string> {
  // The process that held the lock before may have installed the driver.
  const before = await assess(host, distribution);
  if (before.state === "ready") return describe(before);

  if (before.state === "missing" && await installedMesa(host)) {
    return `${describe(before)}, though a driver is installed: ` +
      "do VK_DRIVER_FILES or VK_ICD_FILENAMES hide it?";
  }

  const advice = await installationAdvice(host, distribution);
  const privilege = await aptPrivilege(host, distribution);
  const failedLately = before.state === "slow" &&
    Date.now() - await host.lastFailure() < RETRY_MILLISECONDS;
  if (!distribution || !privilege || failedLately) return `${describe(before)}; ${advice}`;

  host.report(`Set-up: ${describe(before)}: installing Mesa's software Vulkan driver with apt`);
  const suite = await installMesa(host, distribution, privilege);
  const after = await assess(host, distribution);
  if (after.state === "ready") return `${describe(after)}, installed from ${suite}`;
  await host.noteFailure();
  return suite === undefined
    ? `${describe(after)}: apt could not install the driver; ${advice}`
    : `${describe(after)}, with the driver of ${suite}; ${advice}`;
}

async function assess(host: Host, distribution: Distribution | undefined): Promise<Assessment> {
  // OpenGL, which the program does not use either, would hide that Vulkan is missing.
  const env = { DENO_WEBGPU_BACKEND: "vulkan,dx12,metal" };
  const probe = new URL("./probe.ts", import.meta.url).href;
  const command = [Deno.execPath(), "run", "--no-config", "--no-lock", "-A", probe];
  const { ok, output: adapter } = await host.run(command, { env, seconds: PROBE_SECONDS });
  if (!ok || adapter === "") return { state: "missing" };

  if (adapter.startsWith("llvmpipe") && backportsOf(distribution)) {
    const mesa = await installedMesa(host);
    if (mesa && parseInt(mesa) < FAST_MESA_VERSION) return { state: "slow", adapter, mesa };
  }
  return { state: "ready", adapter };
}

function describe(assessment: Assessment): string {
  switch (assessment.state) {
    case "ready":
      return `WebGPU runs on ${assessment.adapter}`;
    case "slow":
      return `WebGPU runs on ${assessment.adapter} of the slow Mesa ${assessment.mesa}`;
    case "missing":
      return "WebGPU finds no adapter of Metal, Direct3D or Vulkan";
  }
}

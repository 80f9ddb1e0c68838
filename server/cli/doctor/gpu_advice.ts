// What to do where WebGPU finds no GPU, or only a software adapter: looks for the hardware and for what
// keeps WebGPU from it, and gives the commands for this system.

import type { Environment } from "../../settings/environment.ts";
import {
  type Distribution,
  type Host,
  installationCommand,
  readDistribution,
} from "../setup/host.ts";
import { askNvidia } from "./driver.ts";
import type { Todo } from "./types.ts";

const PCI_DEVICES = "/proc/bus/pci/devices";
const RENDER_NODE = "/dev/dri/renderD128";
const CONTAINER_MARKS = ["/.dockerenv", "/run/.containerenv"];

/** PCI ids of makers of GPUs. */
const NVIDIA = "10de";
const AMD = "1002";

/** Matches no value of a variable that is set. */
const NOTHING = /^$/;

/** Variables that make a Vulkan loader, or Deno, look at some drivers only, and values that do not. */
const HIDING: Readonly<Record<string, RegExp>> = {
  VK_DRIVER_FILES: NOTHING,
  VK_ICD_FILENAMES: NOTHING,
  VK_LOADER_DRIVERS_SELECT: NOTHING,
  // What the program looks for on each system.
  DENO_WEBGPU_BACKEND: /\b(vulkan|dx12|metal)\b/,
};

/** How NVIDIA's driver is installed, and from where if that is no source of the system's own. */
const NVIDIA_DRIVER: Record<string, { command: string; source?: string }> = {
  ubuntu: { command: "sudo ubuntu-drivers install" },
  debian: {
    command: "sudo apt-get install -y nvidia-driver nvidia-vulkan-icd",
    source: "the component non-free of Debian",
  },
  fedora: { command: "sudo dnf install -y akmod-nvidia", source: "RPM Fusion" },
  arch: { command: "sudo pacman -S --needed nvidia nvidia-utils" },
};

const AGAIN = "Then ask the doctor again.";

/** The advice if WebGPU finds nothing. */
export async function adviseMissingGpu(host: Host, environment: Environment): Promise<Todo> {
  if (host.os === "darwin") {
    return {
      text: "macOS brings Metal, the driver, itself, but not to every virtual machine or remote " +
        "session: run Quern on the Mac itself, as the user who is logged in.",
    };
  }
  if (host.os === "windows") {
    return { text: `Install the graphics driver that the GPU's maker offers. ${AGAIN}` };
  }
  const hidden = await adviseHiddenGpu(host, environment);
  if (hidden) return hidden;
  const command = await installationCommand(host, await readDistribution(host));
  const without =
    "or leave QUERN_DEVICE out: without a GPU the CPU computes, which needs no driver";
  return command === undefined
    ? { text: `Install a Vulkan driver, with the system's package manager, ${without}. ${AGAIN}` }
    : { text: `Install a Vulkan driver, ${without}. ${AGAIN}`, command };
}

/**
 * What to do where the CPU computes although a GPU is in the machine; undefined if there seems to
 * be none.
 */
export async function adviseUnusedGpu(
  host: Host,
  environment: Environment,
): Promise<Todo | undefined> {
  const unhidden = { ...environment };
  for (const name of Object.keys(HIDING)) delete unhidden[name];
  return await adviseHiddenGpu(host, unhidden) && await adviseHiddenGpu(host, environment);
}

/**
 * The reason why WebGPU does not find a GPU that is in the machine; undefined if there seems to be
 * none.
 */
export async function adviseHiddenGpu(
  host: Host,
  environment: Environment,
): Promise<Todo | undefined> {
  const variable = Object.entries(HIDING).find(([name, harmless]) =>
    environment[name] && !harmless.test(environment[name])
  )?.[0];
  if (variable) {
    return {
      text: `${variable} says which drivers to use and may hide the right one: leave it out.`,
      command: `env -u ${variable} quern doctor`,
    };
  }
  if (host.os !== "linux") return undefined;
  const distribution = await readDistribution(host);
  const makers = await makersOfDevices(host);
  const answers = (await askNvidia(host, "-L")).ok;
  if (makers.includes(NVIDIA) || answers) return await adviseNvidia(host, distribution, answers);
  if (await isLockedOut(host)) {
    return {
      text: `This user may not use the GPU, which is ${RENDER_NODE}. Log out and in afterwards.`,
      command: "sudo usermod -aG render,video $USER",
    };
  }
  if (!makers.includes(AMD)) return undefined;
  const command = await installationCommand(host, distribution);
  return {
    text: `A GPU of AMD is here, but no Vulkan driver for it: install Mesa's. ${AGAIN}`,
    ...(command !== undefined && { command }),
  };
}

/** @param answers whether the kernel's part of the driver does */
async function adviseNvidia(
  host: Host,
  distribution: Distribution | undefined,
  answers: boolean,
): Promise<Todo> {
  const here = "A GPU of NVIDIA is here, but";
  if (answers && await isInContainer(host)) {
    return {
      text: `${here} this container was not given Vulkan for it. Start the container with the ` +
        "options `--gpus all -e NVIDIA_DRIVER_CAPABILITIES=all`, and have a Vulkan loader in it.",
      ...(distribution?.family.includes("debian") && {
        command: "apt-get update && apt-get install -y libvulkan1",
      }),
    };
  }
  const lack = answers ? "the part of its driver that is Vulkan is missing" : "its driver is not";
  const name = distribution?.family.find((member) => member in NVIDIA_DRIVER);
  if (name === undefined) {
    return { text: `${here} ${lack}: install it with the package manager, and restart.` };
  }
  const { command, source } = NVIDIA_DRIVER[name]!;
  const from = source ? `, from ${source}` : "";
  return { text: `${here} ${lack}: install it${from}, and restart.`, command };
}

/** PCI ids of the makers of this machine's devices; none if the system does not tell. */
async function makersOfDevices(host: Host): Promise<string[]> {
  // The second word of a line is the maker's id and the device's, four digits each.
  const lines = (await host.readText(PCI_DEVICES) ?? "").split("\n");
  return lines.map((line) => (line.split(/\s+/)[1] ?? "").slice(0, 4).toLowerCase());
}

async function isLockedOut(host: Host): Promise<boolean> {
  const test = async (flag: string) => (await host.run(["test", flag, RENDER_NODE])).ok;
  return await test("-e") && !(await test("-w"));
}

async function isInContainer(host: Host): Promise<boolean> {
  const texts = await Promise.all(CONTAINER_MARKS.map((path) => host.readText(path)));
  return texts.some((text) => text !== undefined);
}

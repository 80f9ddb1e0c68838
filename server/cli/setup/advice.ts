// What the user can type to get a Vulkan driver, on each system that the set-up knows.

import { aptCommand } from "./apt.ts";
import type { Distribution, Host } from "./host.ts";

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

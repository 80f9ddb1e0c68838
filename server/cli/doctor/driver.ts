// The version of the graphics driver, which WebGPU does not tell: asked of the system's own tools.

import { type Host, installedMesa } from "../setup/host.ts";

/** A driver in trouble can let its tools hang. */
const SECONDS = 5;

/** Name and version of the driver behind an adapter of this description, if a tool tells. */
export async function driverVersion(host: Host, adapter: string): Promise<string | undefined> {
  if (host.os !== "linux" && host.os !== "windows") return undefined;
  if (/nvidia|geforce/i.test(adapter)) {
    const { ok, output } = await askNvidia(
      host,
      "--query-gpu=driver_version",
      "--format=csv,noheader",
    );
    const version = output.trim().split("\n")[0];
    return ok && version ? `NVIDIA ${version}` : undefined;
  }
  const mesa = host.os === "linux" ? await installedMesa(host) : undefined;
  return mesa && `Mesa ${mesa}`;
}

/** Asks NVIDIA's tool, which answers only if the kernel's part of the driver works. */
export function askNvidia(host: Host, ...options: string[]) {
  return host.run(["nvidia-smi", ...options], { seconds: SECONDS });
}

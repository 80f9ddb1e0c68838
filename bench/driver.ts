// The version of the graphics driver, which WebGPU does not tell. The system's own tools are asked.

const QUESTIONS: readonly (readonly [label: string, command: string, ...args: string[]])[] = [
  ["NVIDIA", "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
  ["Mesa", "dpkg-query", "-W", "-f", "${Version}", "mesa-vulkan-drivers"],
  ["Mesa", "rpm", "-q", "--qf", "%{VERSION}", "mesa-vulkan-drivers"],
];

/** Name and version of the driver behind an adapter, or "unknown driver". */
export async function driverVersion(adapter: string): Promise<string> {
  const isNvidia = /nvidia/i.test(adapter);
  for (const [label, command, ...args] of QUESTIONS) {
    if ((label === "NVIDIA") !== isNvidia) continue;
    try {
      const { success, stdout } = await new Deno.Command(command, { args, stderr: "null" })
        .output();
      const version = new TextDecoder().decode(stdout).trim().split("\n")[0];
      if (success && version) return `${label} ${version}`;
    } catch {
      // If this tool is missing, the next one is tried.
    }
  }
  return "unknown driver";
}

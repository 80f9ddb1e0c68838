// Writes the description of the WebGPU adapter that the engine would get, or nothing where there
// is none. A process of its own, because the drivers a process finds are fixed at its first look.

const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
if (adapter) {
  const { description, vendor, device } = adapter.info;
  await Deno.stdout.write(new TextEncoder().encode(description || `${vendor} ${device}`));
}

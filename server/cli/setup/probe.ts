// Writes the description of the WebGPU adapter that the engine would get, or nothing if there is
// none. A program of its own, because a process finds only drivers that were there when it first
// looked.

const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
if (adapter) {
  const { description, vendor, device } = adapter.info;
  await Deno.stdout.write(new TextEncoder().encode(description || `${vendor} ${device}`));
}

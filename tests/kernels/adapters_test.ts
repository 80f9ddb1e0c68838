// Which adapter is taken on machines that are pretended, and what this machine's WebGPU looks for.

import { assert, assertEquals, assertRejects } from "@std/assert";
import { GpuError } from "../../kernels/mod.ts";
import { adapterFacts, findAdapter, requestAdapter } from "../../kernels/webgpu/mod.ts";

type Info = Partial<GPUAdapterInfo>;

const NVIDIA: Info = { description: "NVIDIA GeForce RTX 4070 Laptop GPU", device: "10336" };
const RADEON: Info = { description: "AMD Radeon RX 7900 XTX (RADV NAVI31)", device: "29772" };
const INTEL: Info = { description: "Intel(R) Iris(R) Xe Graphics (TGL GT2)", device: "39497" };
const LAVAPIPE: Info = {
  ...{ description: "llvmpipe (LLVM 19.1.7, 256 bits)", device: "0", isFallbackAdapter: true },
  ...{ subgroupMinSize: 8, subgroupMaxSize: 8 },
};

/** What Deno says of an adapter that it reached by OpenGL. */
const openGl = (description: string, more: Info = {}): Info => ({
  ...{ description, device: "0", subgroupMinSize: 4, subgroupMaxSize: 128, ...more },
});

const OPENGL_LLVMPIPE = openGl("llvmpipe (LLVM 15.0.6, 256 bits)", { isFallbackAdapter: true });
const OPENGL_NVIDIA = openGl("D3D12 (NVIDIA GeForce RTX 4070 Laptop GPU)");

/** A WebGPU that gives these adapters, by what is asked for. */
interface Given {
  fast?: Info;
  usual?: Info;
  saving?: Info;
  fallback?: Info;
}

function pretend({ fast, usual = fast, saving = usual, fallback }: Given): GPU {
  return {
    requestAdapter({ powerPreference, forceFallbackAdapter }: GPURequestAdapterOptions = {}) {
      const info = forceFallbackAdapter
        ? fallback
        : powerPreference === "high-performance"
        ? fast
        : powerPreference === "low-power"
        ? saving
        : usual;
      return Promise.resolve(info ? { info } : null);
    },
  } as unknown as GPU;
}

const CASES: [name: string, given: Given, asked: string, taken: Info | undefined][] = [
  ["the fast one of two", { fast: NVIDIA, saving: INTEL }, "", NVIDIA],
  ["a discrete one, where the fast one is integrated", { fast: INTEL, usual: NVIDIA }, "", NVIDIA],
  ["a discrete one that saves power", { fast: LAVAPIPE, usual: INTEL, saving: RADEON }, "", RADEON],
  ["an integrated one before software", { fast: LAVAPIPE, saving: INTEL }, "", INTEL],
  ["software where there is nothing else", { fast: LAVAPIPE }, "", LAVAPIPE],
  ["nothing where there is nothing", {}, "", undefined],
  ["nothing where there is OpenGL alone", { fast: OPENGL_NVIDIA }, "", undefined],
  ["no software by OpenGL", { fast: OPENGL_LLVMPIPE }, "", undefined],
  ["an integrated one before OpenGL", { fast: OPENGL_NVIDIA, usual: INTEL }, "", INTEL],
  ["software of Vulkan before OpenGL", { fast: OPENGL_NVIDIA, usual: LAVAPIPE }, "", LAVAPIPE],
  ["OpenGL that is asked for", { fast: OPENGL_NVIDIA }, "OpenGL", OPENGL_NVIDIA],
  ["the one that is named", { fast: NVIDIA, saving: INTEL }, "iris", INTEL],
  ["software that is named", { fast: NVIDIA, fallback: LAVAPIPE }, "llvmpipe", LAVAPIPE],
];

for (const [name, given, asked, taken] of CASES) {
  Deno.test(`requestAdapter() takes ${name}`, async () => {
    const gpu = pretend(given);
    assertEquals((await requestAdapter(gpu, asked))?.info as Info | undefined, taken);
    assertEquals((await findAdapter(gpu, asked))?.description, taken?.description);
  });
}

Deno.test("requestAdapter() says which GPUs there are where none has the name", async () => {
  const ask = (given: Given, asked: string) => () => requestAdapter(pretend(given), asked);
  await assertRejects(
    ask({ fast: NVIDIA, saving: INTEL }, "Radeon"),
    GpuError,
    `Cannot open the GPU of QUERN_GPU, "Radeon": WebGPU finds "${NVIDIA.description}", ` +
      `"${INTEL.description}"`,
  );
  await assertRejects(ask({}, "Radeon"), GpuError, `"Radeon": WebGPU finds none`);
  // Not by its name alone.
  await assertRejects(ask({ fast: OPENGL_NVIDIA }, "nvidia"), GpuError, "WebGPU finds none");
});

Deno.test("adapterFacts() know integrated GPUs by their names", () => {
  const integrated = (description: string) => adapterFacts({ description } as GPUAdapterInfo);
  for (
    const name of [
      ...["Apple M3 Max", "Intel(R) UHD Graphics 630 (CFL GT2)", "Intel(R) Arc(TM) Graphics (MTL)"],
      ...["Intel(R) Arc(TM) 140V GPU (LNL)", "AMD Radeon Graphics (RADV RENOIR)"],
      ...["AMD Radeon(TM) Vega 8 Graphics", "AMD Radeon 780M Graphics (RADV PHOENIX)"],
      ...["AMD Radeon(TM) 8060S Graphics", "Adreno (TM) 740", "Mali-G715"],
    ]
  ) assertEquals(integrated(name).integrated, true, name);
  for (
    const name of [
      ...["NVIDIA GeForce RTX 4090", "AMD Radeon RX 6600M", "AMD Radeon RX 480 Graphics"],
      ...["Intel(R) Arc(TM) A770 Graphics (DG2)", "Intel(R) Arc(TM) B580 Graphics (BMG G21)"],
      ...["AMD Radeon Pro W6800", "AMD Radeon VII (RADV VEGA20)", LAVAPIPE.description!],
    ]
  ) assertEquals(integrated(name).integrated, false, name);
});

Deno.test("adapterFacts() do not take Metal's or Vulkan's adapters to be of OpenGL", () => {
  const isOpenGl = (info: Info, system: string) =>
    adapterFacts(info as GPUAdapterInfo, system).openGl;
  assertEquals(isOpenGl(OPENGL_NVIDIA, "windows"), true);
  assertEquals(isOpenGl(openGl("Apple M3"), "darwin"), false);
  assertEquals(isOpenGl(LAVAPIPE, "linux"), false);
  assertEquals(isOpenGl({ ...INTEL, subgroupMinSize: 4, subgroupMaxSize: 128 }, "linux"), false);
  assertEquals(isOpenGl({ description: "a browser's", device: "" }, "linux"), false);
});

/** What the adapter of a process of its own is, and which graphics libraries it has loaded. */
async function probe(env: Record<string, string>): Promise<{ found: boolean; loaded: string[] }> {
  const url = new URL("../../kernels/webgpu/mod.ts", import.meta.url);
  const code = `import { requestAdapter } from ${JSON.stringify(url)};
    const found = await requestAdapter(navigator.gpu) !== undefined;
    const maps = Deno.readTextFileSync("/proc/self/maps");
    console.log(JSON.stringify({ found, loaded: maps.match(/lib(EGL|GLX?|vulkan)\\\\b/g) ?? [] }));`;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, code);
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", "--no-lock", "--no-check", file],
      env: { DENO_WEBGPU_BACKEND: "", QUERN_GPU: "", ...env },
      stderr: "inherit",
    }).output();
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(file);
  }
}

Deno.test({
  name: "A process that looks for a GPU does not load OpenGL (on Linux)",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const { loaded } = await probe({});
    assert(
      !loaded.some((name) => name.startsWith("libEGL") || name.startsWith("libGL")),
      `${loaded}`,
    );
  },
});

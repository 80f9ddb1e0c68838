// Which device is taken on machines that are pretended, and how many threads on the CPU.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { chooseDevice, type Surroundings } from "../../kernels/choice.ts";
import { countCores, type CpuFiles, defaultThreads } from "../../kernels/cpu/threads.ts";
import { DEVICE_KINDS, type DeviceKind, GpuError } from "../../kernels/mod.ts";
import { adapterFacts } from "../../kernels/webgpu/mod.ts";

/** A machine by what it shows; `adapters` is what WebGPU finds, if it may be asked. */
interface Machine {
  asked?: string;
  askedGpu?: string;
  files?: string[];
  adapter?: Partial<GPUAdapterInfo> | "must not be asked";
}

function surroundings({ asked = "", askedGpu = "", files, adapter }: Machine): Surroundings {
  return {
    asked,
    askedGpu,
    gpuFiles: () => files,
    adapter: () => {
      assert(adapter !== "must not be asked", "WebGPU was asked");
      return Promise.resolve(adapter && adapterFacts(adapter as GPUAdapterInfo));
    },
  };
}

const NVIDIA = { description: "NVIDIA GeForce RTX 4090", isFallbackAdapter: false };
const NODE = ["/dev/dri/renderD128"];

/** Adapters of software as implementations of WebGPU name them; not all say that they are. */
const SOFTWARE: Partial<GPUAdapterInfo>[] = [
  { description: "llvmpipe (LLVM 15.0.6, 256 bits)", isFallbackAdapter: true },
  { description: "llvmpipe (LLVM 19.1.7, 256 bits)" },
  { description: "SwiftShader Device (Subzero)" },
  { description: "Microsoft Basic Render Driver", isFallbackAdapter: false },
  { description: "", device: "WARP" },
];

const CASES: [name: string, machine: Machine, kind: DeviceKind][] = [
  ["a GPU on Linux", { files: NODE, adapter: NVIDIA }, "webgpu"],
  ["a GPU on a system without device files", { adapter: NVIDIA }, "webgpu"],
  ["a GPU of Apple", { adapter: { description: "Apple M3" } }, "webgpu"],
  ["no GPU on Linux", { files: [], adapter: "must not be asked" }, "cpu"],
  ["a device file, and nothing for it", { files: NODE }, "cpu"],
  ["no adapter on a system without device files", {}, "cpu"],
  ...SOFTWARE.map((adapter): typeof CASES[number] => [
    `${adapter.description || adapter.device} alone`,
    { files: NODE, adapter },
    "cpu",
  ]),
  [
    "a software driver that is asked for",
    { asked: "webgpu", files: [], adapter: SOFTWARE[0]! },
    "webgpu",
  ],
  [
    "a software driver that QUERN_GPU names",
    { askedGpu: "llvmpipe", files: [], adapter: SOFTWARE[0]! },
    "webgpu",
  ],
  [
    "a GPU that QUERN_GPU names, and the CPU is asked for",
    { asked: "cpu", askedGpu: "RTX" },
    "cpu",
  ],
  ["no OpenGL, though QUERN_GPU asks for it", { askedGpu: "opengl", files: [] }, "cpu"],
  ["a GPU, and the CPU is asked for", { asked: "CPU", adapter: "must not be asked" }, "cpu"],
  ["a GPU, and Dawn is asked for", { asked: "dawn", adapter: "must not be asked" }, "dawn"],
  ["a GPU, and auto", { asked: "auto", adapter: NVIDIA }, "webgpu"],
];

for (const [name, machine, kind] of CASES) {
  Deno.test(`chooseDevice() takes ${kind} with ${name}`, async () => {
    const choice = await chooseDevice({}, surroundings(machine));
    assertEquals(choice.kind, kind);
    assert(choice.reason.length > 0);
  });
}

Deno.test("chooseDevice() takes what a program asks for, whatever QUERN_DEVICE says", async () => {
  const machine = surroundings({ asked: "webgpu" });
  assertEquals((await chooseDevice({ kind: "cpu" }, machine)).kind, "cpu");
  const gpu = {} as GPU;
  assertEquals((await chooseDevice({ gpu }, surroundings({ asked: "cpu" }))).kind, "webgpu");
});

Deno.test("chooseDevice() refuses names of no device with what may be said", async () => {
  for (const asked of ["vulkan", "gpu"]) {
    const error = await assertRejects(
      () => chooseDevice({}, surroundings({ asked })),
      GpuError,
      `Cannot open the device of QUERN_DEVICE, "${asked}": `,
    );
    assert(error.message.includes('it is not "auto", "cpu", '), error.message);
    for (const kind of DEVICE_KINDS) assert(error.message.includes(`"${kind}"`), kind);
  }
});

/** The files of a Linux machine whose CPUs are of these cores. */
function linux(siblings: string[], allowed?: string): CpuFiles {
  const folder = "/sys/devices/system/cpu";
  const texts: Record<string, string | undefined> = {
    "/proc/self/status": allowed && `Name:\tdeno\nCpus_allowed_list:\t${allowed}\nThreads:\t9\n`,
  };
  siblings.forEach((list, cpu) => {
    texts[`${folder}/cpu${cpu}/topology/thread_siblings_list`] = `${list}\n`;
  });
  return {
    readText: (path) => texts[path],
    namesIn: (path) =>
      path === folder ? [...siblings.map((_, cpu) => `cpu${cpu}`), "cpufreq", "online"] : undefined,
  };
}

const NONE: CpuFiles = { readText: () => undefined, namesIn: () => undefined };

const CORES: [name: string, concurrency: number, files: CpuFiles, threads: number][] = [
  ["two threads on each of two cores", 4, linux(["0,2", "1,3", "0,2", "1,3"]), 2],
  ["one thread on each of two cores", 2, linux(["0", "1"]), 2],
  [
    "performance cores of two threads and others of one",
    6,
    linux(["0-1", "0-1", "2-3", "2-3", "4", "5"]),
    4,
  ],
  ["a container whose quota is one CPU", 1, linux(["0", "1", "2", "3"]), 1],
  ["a process that is bound to one core", 2, linux(["0-1", "0-1", "2-3", "2-3"], "2-3"), 1],
  [
    "a process that is bound to some CPUs",
    3,
    linux(["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"], "0-1,5"),
    2,
  ],
  ["a system that does not tell", 8, NONE, 8],
];

for (const [name, concurrency, files, threads] of CORES) {
  Deno.test(`countCores() is ${threads} for ${name}`, () => {
    assertEquals(countCores(concurrency, files), threads);
  });
}

Deno.test("defaultThreads() is what QUERN_THREADS says, which must be a number of threads", () => {
  assertEquals(defaultThreads("3"), 3);
  for (const said of ["0", "two", "1.5", "-1", "1025"]) {
    assertThrows(() => defaultThreads(said), GpuError, `"${said}" is not a whole number from 1`);
  }
});

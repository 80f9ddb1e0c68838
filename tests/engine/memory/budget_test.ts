// How much memory a GPU is taken to have, on machines that are made up.

import { assertEquals, assertMatch } from "@std/assert";
import { type BudgetOptions, findBudget, type GpuIdentity } from "../../../engine/memory/budget.ts";
import type { Machine } from "../../../engine/memory/devices.ts";

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const DRIVER = 256 * MIB;

interface Facts {
  os?: Machine["os"];
  files?: Record<string, string>;
  /** Output by program. */
  programs?: Record<string, string>;
  available?: number;
}

/** A machine that has nothing but what is said. */
function createMachine({ os = "linux", files = {}, programs = {}, available = 16 * GIB }: Facts) {
  const machine: Machine = {
    os,
    readText: (path) => Promise.resolve(files[path]),
    list(folder) {
      const below = Object.keys(files).filter((path) => path.startsWith(`${folder}/`));
      return Promise.resolve([
        ...new Set(below.map((path) => path.slice(folder.length + 1).split("/")[0]!)),
      ]);
    },
    run: (program) => Promise.resolve(programs[program]),
    availableMemory: () => available,
  };
  return machine;
}

function gpu(vendor: number, description: string, device = 0, software = false): GpuIdentity {
  return { vendor, device, description, capabilities: { software } };
}

const LLVMPIPE = gpu(0x10005, "llvmpipe (LLVM 15.0.6, 256 bits)", 0, true);
const GEFORCE = gpu(0x10de, "NVIDIA GeForce RTX 4090");
const RADEON = gpu(0x1002, "AMD Radeon RX 7900 XTX (RADV NAVI31)", 0x744c);
const ARC = gpu(0x8086, "Intel(R) Arc(tm) Graphics (MTL)");
const APPLE = gpu(0x106b, "Apple M3 Pro");

function amdCard(card: string, device: string, total: number, used: number) {
  const folder = `/sys/class/drm/${card}/device`;
  return {
    [`${folder}/device`]: `${device}\n`,
    [`${folder}/mem_info_vram_total`]: `${total}\n`,
    [`${folder}/mem_info_vram_used`]: `${used}\n`,
  };
}

const TWO_NVIDIA = "NVIDIA GeForce GT 1030, 2048, 100\nNVIDIA GeForce RTX 4090, 24564, 1024\n";
const CONTAINER = {
  "/sys/fs/cgroup/memory.max": `${8 * GIB}\n`,
  "/sys/fs/cgroup/memory.current": `${4 * GIB}\n`,
};

const CASES: [
  name: string,
  facts: Facts,
  gpu: GpuIdentity | undefined,
  total: number,
  source: RegExp,
  options?: BudgetOptions,
][] = [
  [
    "what the user says goes before what drivers say",
    { programs: { "nvidia-smi": TWO_NVIDIA } },
    GEFORCE,
    8 * GIB,
    /^as QUERN_GPU_MEMORY says$/,
    { total: 8 * GIB },
  ],
  [
    "an overhead is left free",
    {},
    undefined,
    7 * GIB,
    /QUERN_GPU_MEMORY says, less 1.0 GiB by OLLAMA_GPU_OVERHEAD/,
    { total: 8 * GIB, overhead: GIB },
  ],
  ["an overhead over all there is leaves nothing", {}, undefined, 0, /less/, {
    total: GIB,
    overhead: 2 * GIB,
  }],
  [
    "NVIDIA: what is free of the GPU of that name",
    { programs: { "nvidia-smi": TWO_NVIDIA } },
    GEFORCE,
    23_540 * MIB - DRIVER,
    /^what nvidia-smi says is free of 24.0 GiB$/,
  ],
  [
    "NVIDIA: of two alike, the one with less room",
    { programs: { "nvidia-smi": "NVIDIA L4, 23034, 0\nNVIDIA L4, 23034, 9000\n" } },
    gpu(0x10de, "NVIDIA L4"),
    14_034 * MIB - DRIVER,
    /nvidia-smi/,
  ],
  [
    "NVIDIA without numbers shares the system's memory",
    { programs: { "nvidia-smi": "NVIDIA GB10, [N/A], [N/A]\n" } },
    gpu(0x10de, "NVIDIA GB10"),
    12 * GIB,
    /system's free memory, 16.0 GiB/,
  ],
  ["NVIDIA without nvidia-smi", {}, GEFORCE, 12 * GIB, /system/],
  [
    "AMD: the card of that id",
    {
      files: {
        ...amdCard("card0", "0x7550", 16 * GIB, 0),
        ...amdCard("card1", "0x744c", 24 * GIB, GIB),
        "/sys/class/drm/card1-DP-1/device/mem_info_vram_total": "1",
      },
    },
    RADEON,
    23 * GIB - DRIVER,
    /^what the driver says is free of 24.0 GiB$/,
  ],
  [
    "AMD: an integrated one shares the system's memory",
    { files: amdCard("card0", "0x15bf", GIB / 2, 0) },
    gpu(0x1002, "AMD Radeon 780M", 0x15bf),
    12 * GIB,
    /system/,
  ],
  ["Intel shares the system's memory", {}, ARC, 12 * GIB, /three quarters of the system/],
  [
    "a Mac of 18 GiB",
    { os: "darwin", programs: { sysctl: `${18 * GIB}\n` } },
    APPLE,
    12 * GIB,
    /18/,
  ],
  [
    "a Mac of 64 GiB",
    { os: "darwin", programs: { sysctl: `${64 * GIB}\n` } },
    APPLE,
    48 * GIB,
    /the GPU's share of 64.0 GiB/,
  ],
  ["a Mac that does not say", { os: "darwin" }, APPLE, 12 * GIB, /system/],
  ["Windows", { os: "windows" }, ARC, 12 * GIB, /system/],
  [
    "a GPU of software, beside one that is not used",
    { programs: { "nvidia-smi": TWO_NVIDIA } },
    LLVMPIPE,
    12 * GIB,
    /system/,
  ],
  ["a container's limit counts", { files: CONTAINER }, LLVMPIPE, 3 * GIB, /free memory, 4.0 GiB/],
  [
    "a container without a limit",
    { files: { "/sys/fs/cgroup/memory.max": "max\n" } },
    LLVMPIPE,
    12 * GIB,
    /16.0 GiB/,
  ],
  ["no GPU at all", {}, undefined, 12 * GIB, /system/],
];

for (const [name, facts, identity, total, source, options] of CASES) {
  Deno.test(`findBudget(): ${name}`, async () => {
    const budget = await findBudget(createMachine(facts), identity, options);
    assertEquals(budget.total, total);
    assertMatch(budget.source, source);
  });
}

// The memory that the GPU has for models. WebGPU does not tell it, so drivers and systems are asked,
// each in its own way; where none answers, the GPU is taken to share the system's memory. What is read
// comes from a Machine (machine.ts), so that tests can have other machines.

import type { DeviceProfile } from "../../kernels/mod.ts";
import { formatSize } from "./estimate.ts";
import { gpuProfile } from "./gpu_profile.ts";
import { type Machine, thisMachine } from "./machine.ts";

/** Memory for models. */
export interface MemoryBudget {
  /** In bytes. */
  total: number;
  /** Where the number comes from, for people. */
  source: string;
  /** Of the system, for layers that are not on the GPU; missing where the CPU is what models are on. */
  system?: { total: number; source: string };
}

/** What the user says of it. */
export interface BudgetOptions {
  /** All there is, in bytes; then nothing is read. */
  total?: number;
  /** To leave free, in bytes. */
  overhead?: number;
  /** Of the system's memory for what leaves the KV caches of models, in bytes. Default: a share of it. */
  cacheMemory?: number;
}

/** What is known of the GPU. */
export type GpuIdentity = Pick<DeviceProfile, "vendor" | "device" | "description"> & {
  capabilities: Pick<DeviceProfile["capabilities"], "software">;
  /** "cpu" where the CPU itself is what models are on. */
  platform?: DeviceProfile["platform"];
};

/** PCI ids of vendors. */
const AMD = 0x1002;
const NVIDIA = 0x10de;

/** Of the free memory of a system, what a GPU that shares it may take. */
const SYSTEM_SHARE = 3 / 4;
/** Of the free memory of a system, what leaves KV caches may take unless it is said: within the rest. */
const CACHE_SHARE = 1 / 8;
/** Most bytes of it. */
const MOST_CACHE = 8 * 2 ** 30;
/** Of a Mac's memory; the larger share is for those with more than 36 GiB, as Metal recommends. */
const MAC_SHARE = 2 / 3;
const LARGE_MAC_SHARE = 3 / 4;
const LARGE_MAC = 36 * 2 ** 30;
/** Of the memory of a GPU, what pipelines, command lists and uploads take, which no buffer counts. */
const DRIVER_BYTES = 256 * 2 ** 20;
/** Less than this is what an integrated GPU sets aside; it uses the system's memory besides. */
const LEAST_DEDICATED = 4 * 2 ** 30;

/**
 * How much memory there is for models.
 *
 * @param gpu undefined if none was found
 */
export async function findBudget(
  machine: Machine,
  gpu: GpuIdentity | undefined,
  { total, overhead = 0, cacheMemory }: BudgetOptions = {},
): Promise<MemoryBudget> {
  const own = total === undefined ? await dedicated(machine, gpu) : undefined;
  const found = total === undefined
    ? own ?? await shared(machine, gpu, cacheMemory)
    : { total, source: "as QUERN_GPU_MEMORY says" };
  const left = Math.max(0, found.total - overhead);
  const source = overhead > 0
    ? `${found.source}, less ${formatSize(overhead)} by OLLAMA_GPU_OVERHEAD`
    : found.source;
  if (!gpu?.platform || gpu.platform.name === "cpu") return { total: left, source };
  // Where the GPU shares the system's memory, what models may take there is taken from it.
  const free = await systemMemory(machine, cacheMemory);
  const isShared = !own && (total === undefined || gpu.capabilities.software);
  const beside = Math.max(0, free.total - (isShared ? found.total : 0));
  return { total: left, source, system: { total: beside, source: free.source } };
}

/** Bytes of the system's memory for what leaves the KV caches of models, where nobody says how many. */
export async function defaultCacheMemory(machine: Machine = thisMachine): Promise<number> {
  return Math.min(MOST_CACHE, Math.floor(CACHE_SHARE * await freeMemory(machine)));
}

/** How much memory models may take. Reads what drivers say; call it once, before loading anything. */
export async function readMemoryBudget(options: BudgetOptions = {}): Promise<MemoryBudget> {
  const gpu = await gpuProfile().catch(() => undefined);
  return await findBudget(thisMachine, gpu, options);
}

/** A GPU's own memory, where the system tells. */
async function dedicated(
  machine: Machine,
  gpu: GpuIdentity | undefined,
): Promise<MemoryBudget | undefined> {
  if (!gpu || gpu.capabilities.software) return undefined;
  const { vendor, description } = gpu;
  if (vendor === NVIDIA || /nvidia|geforce/i.test(description)) return await nvidia(machine, gpu);
  if (vendor === AMD || /\bamd\b|radeon/i.test(description)) return await amd(machine, gpu);
  return undefined;
}

/** Numbers of `nvidia-smi` are MiB. Of several GPUs of that name, the one with least memory counts. */
async function nvidia(
  machine: Machine,
  { description }: GpuIdentity,
): Promise<MemoryBudget | undefined> {
  const text = await machine.run("nvidia-smi", [
    "--query-gpu=name,memory.total,memory.used",
    "--format=csv,noheader,nounits",
  ]);
  const all = (text ?? "").split("\n").flatMap((line) => {
    const [name = "", ...numbers] = line.split(",").map((field) => field.trim());
    const [total = NaN, used = NaN] = numbers.map((number) => parseFloat(number) * 2 ** 20);
    return total > 0 ? [{ name, total, used: used || 0 }] : [];
  });
  const named = all.filter(({ name }) => description.includes(name));
  return ownMemory("nvidia-smi", named.length > 0 ? named : all);
}

/** The amdgpu driver tells in files of bytes. */
async function amd(
  machine: Machine,
  { device }: GpuIdentity,
): Promise<MemoryBudget | undefined> {
  const folder = "/sys/class/drm";
  const cards = (await machine.list(folder)).filter((name) => /^card\d+$/.test(name));
  const read = async (card: string, file: string) =>
    Number(await machine.readText(`${folder}/${card}/device/${file}`) ?? NaN);
  const all = [];
  for (const card of cards) {
    const total = await read(card, "mem_info_vram_total");
    if (!(total >= LEAST_DEDICATED)) continue;
    const used = await read(card, "mem_info_vram_used") || 0;
    all.push({ device: await read(card, "device"), total, used });
  }
  const same = all.filter((card) => card.device === device);
  return ownMemory("the driver", same.length > 0 ? same : all);
}

function ownMemory(
  teller: string,
  gpus: readonly { total: number; used: number }[],
): MemoryBudget | undefined {
  const free = ({ total, used }: { total: number; used: number }) => total - used;
  const [gpu] = [...gpus].sort((a, b) => free(a) - free(b));
  return gpu && {
    total: Math.max(0, free(gpu) - DRIVER_BYTES),
    source: `what ${teller} says is free of ${formatSize(gpu.total)}`,
  };
}

/** Of the system's memory, for GPUs that share it, those made of software, and unknown ones. */
async function shared(
  machine: Machine,
  gpu: GpuIdentity | undefined,
  cacheMemory: number | undefined,
): Promise<MemoryBudget> {
  if (machine.os === "darwin" && !gpu?.capabilities.software) {
    const size = Number(await machine.run("sysctl", ["-n", "hw.memsize"]));
    if (size > 0) {
      const share = size > LARGE_MAC ? LARGE_MAC_SHARE : MAC_SHARE;
      const source = `the GPU's share of ${formatSize(size)}`;
      return lessCache({ total: share * size, source }, size, cacheMemory);
    }
  }
  return await systemMemory(machine, cacheMemory);
}

/** Of the memory that is free, what models may take. */
async function systemMemory(
  machine: Machine,
  cacheMemory: number | undefined,
): Promise<MemoryBudget> {
  const free = await freeMemory(machine);
  const source = `three quarters of the system's free memory, ${formatSize(free)}`;
  return lessCache({ total: SYSTEM_SHARE * free, source }, free, cacheMemory);
}

/** Takes off what was asked for KV caches' blocks beyond the share of `size` that models leave them. */
function lessCache(
  { total, source }: MemoryBudget,
  size: number,
  cacheMemory = 0,
): MemoryBudget {
  const excess = Math.max(0, cacheMemory - CACHE_SHARE * size);
  if (excess === 0) return { total, source };
  const less = `${source}, less ${formatSize(excess)} by QUERN_CACHE_RAM`;
  return { total: Math.max(0, total - excess), source: less };
}

async function freeMemory(machine: Machine): Promise<number> {
  return Math.min(machine.availableMemory(), await containerMemory(machine));
}

/** What the control group of a container leaves to it (cgroup v2). */
async function containerMemory(machine: Machine): Promise<number> {
  const read = async (name: string) =>
    Number(await machine.readText(`/sys/fs/cgroup/memory.${name}`) ?? NaN);
  const [limit, used] = [await read("max"), await read("current")];
  return Number.isFinite(limit) ? Math.max(0, limit - (used || 0)) : Infinity;
}

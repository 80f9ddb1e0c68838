// The memory for models. WebGPU does not tell how much a GPU has, so drivers and systems are asked,
// each in its own way. If none answers, the GPU is assumed to share the system's memory. All is
// read through a Machine (machine.ts), so that tests can simulate others.

import type { DeviceProfile } from "../../kernels/mod.ts";
import { formatSize } from "./estimate.ts";
import { gpuProfile, type Machine, thisMachine } from "./devices.ts";

/** The memory for models. */
export interface MemoryBudget {
  /** Bytes of the device that models are on. */
  total: number;
  /** The source of the number, for people. */
  source: string;
  /** Memory of the system for layers that are not on the GPU. Missing if models are on the CPU. */
  system?: { total: number; source: string };
}

/** The user's settings of the budget. */
export interface BudgetOptions {
  /** Bytes for models. If set, nothing is read. */
  total?: number;
  /** Bytes to leave free. */
  overhead?: number;
  /**
   * Bytes of the system's memory for blocks that leave the KV caches. Default: an eighth of what is
   * free, at most 8 GiB.
   */
  cacheMemory?: number;
}

/** The known facts of the GPU. */
export type GpuIdentity = Pick<DeviceProfile, "vendor" | "device" | "description"> & {
  capabilities: Pick<DeviceProfile["capabilities"], "software">;
  /** "cpu" if models are on the CPU. */
  platform?: DeviceProfile["platform"];
};

/** PCI ids of vendors. */
const AMD = 0x1002;
const NVIDIA = 0x10de;

/** Fraction of the system's free memory that a GPU which shares it may take. */
const SYSTEM_SHARE = 3 / 4;
/**
 * Fraction of the system's free memory for blocks that leave KV caches. It is part of what
 * SYSTEM_SHARE leaves.
 */
const CACHE_SHARE = 1 / 8;
/** Most bytes for blocks that leave KV caches, unless the user sets another number. */
const MOST_CACHE = 8 * 2 ** 30;
/**
 * Fractions of a Mac's memory for models. The larger one is for Macs with more than 36 GiB, as
 * Metal recommends.
 */
const MAC_SHARE = 2 / 3;
const LARGE_MAC_SHARE = 3 / 4;
const LARGE_MAC = 36 * 2 ** 30;
/**
 * Bytes of a GPU's memory for pipelines, command lists and uploads, which are not in any buffer
 * that we count.
 */
const DRIVER_BYTES = 256 * 2 ** 20;
/**
 * A GPU with less memory of its own than this is taken for an integrated one, which also uses the
 * system's memory.
 */
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
  // If the GPU shares the system's memory, both budgets are parts of the same memory.
  const free = await systemMemory(machine, cacheMemory);
  const isShared = !own && (total === undefined || gpu.capabilities.software);
  const beside = Math.max(0, free.total - (isShared ? found.total : 0));
  return { total: left, source, system: { total: beside, source: free.source } };
}

/** Default bytes of the system's memory for blocks that leave KV caches. */
export async function defaultCacheMemory(machine: Machine = thisMachine): Promise<number> {
  return Math.min(MOST_CACHE, Math.floor(CACHE_SHARE * await freeMemory(machine)));
}

/** How much memory models may take. Asks the drivers, so call it once, before loading anything. */
export async function readMemoryBudget(options: BudgetOptions = {}): Promise<MemoryBudget> {
  const gpu = await gpuProfile().catch(() => undefined);
  return await findBudget(thisMachine, gpu, options);
}

/** A GPU's own memory; undefined if the system does not tell. */
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

/**
 * From `nvidia-smi`, whose numbers are MiB. Of several GPUs with that name, the one with the least
 * memory counts.
 */
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

/** From the files of the amdgpu driver, which are in bytes. */
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

/** The system's memory for GPUs that share it, software drivers, and unknown GPUs. */
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

/** Free memory of the system, and the part of it for models. */
async function systemMemory(
  machine: Machine,
  cacheMemory: number | undefined,
): Promise<MemoryBudget> {
  const free = await freeMemory(machine);
  const source = `three quarters of the system's free memory, ${formatSize(free)}`;
  return lessCache({ total: SYSTEM_SHARE * free, source }, free, cacheMemory);
}

/**
 * Subtracts what the user wants for KV blocks beyond the part of `size` that models leave for them
 * anyway.
 */
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

/** The memory that the control group of a container may still use (cgroup v2). */
async function containerMemory(machine: Machine): Promise<number> {
  const read = async (name: string) =>
    Number(await machine.readText(`/sys/fs/cgroup/memory.${name}`) ?? NaN);
  const [limit, used] = [await read("max"), await read("current")];
  return Number.isFinite(limit) ? Math.max(0, limit - (used || 0)) : Infinity;
}

// The null GPU: compiles null_gpu.c, runs programs of this folder on it, and reads what it counted. It
// needs a C compiler and Mesa's RADV; where one is missing, findNullGpu() says which.

/** A null GPU that programs can be run on. */
export interface NullGpu {
  /** Path of the driver. */
  readonly library: string;
  /** Variables with which a program finds it, and no other GPU. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The driver's counters, in order. */
const COUNTS = [
  "submits",
  "commandBuffers",
  "dispatches",
  "barriers",
  "binds",
  "pipelines",
  "copies",
  "idleNanoseconds",
  "gaps",
] as const;

/** Counts since the start of the program. */
export type Counts = Readonly<Record<typeof COUNTS[number], number>>;

/** Mesa's compiler for AMD GPUs, as the system's loader finds it. */
const RADV = "libvulkan_radeon.so";

/** The environment variables that name the driver. */
const LIBRARY_VARIABLE = "NULL_GPU_LIBRARY";

/** The default GPU: a large one of 2022. */
export const DEFAULT_FAMILY = "navi31";

/** Builds the null GPU in a folder. If that is not possible, returns the reason. */
export async function findNullGpu(folder: string): Promise<NullGpu | string> {
  if (Deno.build.os !== "linux") return "the null GPU runs on Linux only";
  try {
    Deno.dlopen(RADV, {}).close();
  } catch {
    return `${RADV} is not here (on Debian and Ubuntu: apt-get install mesa-vulkan-drivers)`;
  }
  const library = `${folder}/libnull_gpu.so`;
  const source = new URL("null_gpu.c", import.meta.url);
  const args = ["-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-x", "c", "-", "-o", library];
  try {
    const child = new Deno.Command("cc", {
      args: [...args, "-ldl"],
      stdin: "piped",
      stderr: "piped",
    }).spawn();
    await new Blob([await Deno.readFile(source)]).stream().pipeTo(child.stdin);
    const { success, stderr } = await child.output();
    if (!success) return `cc cannot compile the null GPU: ${new TextDecoder().decode(stderr)}`;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return "there is no C compiler (on Debian and Ubuntu: apt-get install gcc libc6-dev)";
  }
  const manifest = `${folder}/null_gpu.json`;
  const icd = { library_path: library, api_version: "1.4.305" };
  await Deno.writeTextFile(manifest, JSON.stringify({ file_format_version: "1.0.0", ICD: icd }));
  return {
    library,
    environment: {
      [LIBRARY_VARIABLE]: library,
      NULL_GPU_COMPILER: RADV,
      VK_DRIVER_FILES: manifest,
      VK_ICD_FILENAMES: manifest, // what older loaders call it
      MESA_SHADER_CACHE_DISABLE: "1",
    },
  };
}

/** The output of a program. */
export interface ProgramOutput {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program of this folder on a GPU of a family.
 * @throws Error if it fails, with the end of its output
 */
export async function runOnNullGpu(
  { environment }: NullGpu,
  program: string,
  { args = [], family = DEFAULT_FAMILY, kind = "webgpu", debug }: {
    args?: readonly string[];
    family?: string;
    /** The implementation of WebGPU. */
    kind?: "webgpu" | "dawn";
    /** RADV's output about the shaders that it compiles. */
    debug?: string;
  } = {},
): Promise<ProgramOutput> {
  const decoder = new TextDecoder();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", new URL(program, import.meta.url).href, ...args],
    env: {
      ...environment,
      QUERN_DEVICE: kind,
      RADV_FORCE_FAMILY: family,
      ...(debug === undefined ? {} : { RADV_DEBUG: debug }),
    },
  }).output();
  const output = { stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  if (success) return output;
  throw new Error(`Cannot run ${program} on ${family}: ${output.stderr.slice(-2000)}`);
}

/** The driver's facts about submitted work. */
export interface Counters {
  counts(): Counts;
  /** Lengths of the last `count` times in which the GPU had nothing to do, in nanoseconds. */
  gaps(count: number): number[];
  setDispatchTime(nanoseconds: number): void;
}

/** The driver that this program runs on. Errors: Error if it is not the null GPU. */
export function openCounters(): Counters {
  const library = Deno.env.get(LIBRARY_VARIABLE);
  if (!library) throw new Error("Cannot count commands: this program does not run on the null GPU");
  const { symbols } = Deno.dlopen(library, {
    null_gpu_counts: { parameters: ["buffer"], result: "void" },
    null_gpu_gaps: { parameters: ["buffer", "u64"], result: "u64" },
    null_gpu_dispatch_time: { parameters: ["u64"], result: "void" },
  });
  return {
    counts() {
      const words = new BigUint64Array(COUNTS.length);
      symbols.null_gpu_counts(words);
      return Object.fromEntries(COUNTS.map((name, i) => [name, Number(words[i])])) as Counts;
    },
    gaps(count) {
      const lengths = new BigUint64Array(count);
      const found = Number(symbols.null_gpu_gaps(lengths, BigInt(count)));
      return Array.from(lengths.subarray(0, found), Number);
    },
    setDispatchTime: (nanoseconds) => symbols.null_gpu_dispatch_time(BigInt(nanoseconds)),
  };
}

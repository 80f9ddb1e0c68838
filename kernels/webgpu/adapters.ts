// Which adapter of WebGPU a device is opened on: the one that QUERN_GPU names, or else the fastest. A
// discrete GPU comes before an integrated one, and that before a driver that runs on the CPU. OpenGL
// is left out unless it is asked for by name: its drivers compute wrong values, and Mesa's aborts a
// process that exits while one of its threads ends. Deno loads it even to look for adapters, and
// decides when it is first asked, so what it is to look for is said before.

import { readVariable, setVariable } from "../../host/mod.ts";
import { GpuError } from "../errors.ts";
import { type AdapterFacts, adapterFacts } from "./adapter_facts.ts";

/** The variable that tells Deno's WebGPU what to look for. */
const BACKENDS_VARIABLE = "DENO_WEBGPU_BACKEND";

/** Everything but OpenGL. */
const BACKENDS = "vulkan,dx12,metal";

const OPENGL = /^(opengl|gles|gl)$/i;

/** The variable that tells the loader of Vulkan which drivers to look at, by patterns of their files. */
const DRIVERS_VARIABLE = "VK_LOADER_DRIVERS_SELECT";

/**
 * The drivers of a GPU by the words of its name. WebGPU shows the first discrete GPU and the first
 * integrated one, so a second discrete one is only seen where the driver of the first is left out.
 */
const DRIVERS: readonly [name: RegExp, patterns: string][] = [
  [/nvidia|geforce|[rg]tx|quadro|tesla/i, "*nvidia*,nv-vk*,*nouveau*"],
  [/amd|radeon|\brx\b/i, "*radeon*,*amd*"],
  [/intel|\barc\b|iris|uhd/i, "*intel*,igvk*"],
  [/llvmpipe|lavapipe/i, "*lvp*"],
  [/swiftshader/i, "*swiftshader*"],
];

/** An adapter and its facts. */
interface Candidate {
  readonly adapter: GPUAdapter;
  readonly facts: AdapterFacts;
}

/** The name, or a part of it, of the GPU to use, or "opengl"; empty if QUERN_GPU is not set. */
export function askedGpu(): string {
  return readVariable("QUERN_GPU");
}

/**
 * The adapter on which a device is opened; undefined if there is none.
 *
 * @throws {GpuError} if QUERN_GPU names none of those that are found
 */
export async function requestAdapter(
  gpu: GPU | undefined,
  asked: string = askedGpu(),
): Promise<GPUAdapter | undefined> {
  return (await find(gpu, asked))?.adapter;
}

/**
 * The facts of that adapter; undefined if there is none.
 *
 * @throws {GpuError} if QUERN_GPU names none of those that are found
 */
export async function findAdapter(
  gpu: object | undefined = globalThis.navigator?.gpu,
  asked: string = askedGpu(),
): Promise<AdapterFacts | undefined> {
  return (await find(gpu as GPU | undefined, asked))?.facts;
}

async function find(gpu: GPU | undefined, asked: string): Promise<Candidate | undefined> {
  if (!gpu) return undefined;
  const isRuntime = gpu === globalThis.navigator?.gpu;
  if (isRuntime) prepareRuntime(asked);
  const name = OPENGL.test(asked) ? "" : asked;
  const found = await list(gpu, isOpenGlAsked(asked), name !== "");
  if (name === "") return found.sort((a, b) => rank(a.facts) - rank(b.facts))[0];
  const named = found.find(({ facts }) => isNamed(facts, name));
  if (named) return named;
  const patterns = isRuntime && readVariable(DRIVERS_VARIABLE);
  const names = found.map(({ facts }) => `"${facts.description}"`);
  throw new GpuError(
    `Cannot open the GPU of QUERN_GPU, "${name}": ` +
      (names.length > 0 ? `WebGPU finds ${names.join(", ")}` : "WebGPU finds none") +
      (patterns ? `, with the drivers ${patterns} (${DRIVERS_VARIABLE})` : ""),
  );
}

/** Tells this process's runtime what to look for, where the user has not. */
function prepareRuntime(asked: string): void {
  if (readVariable(BACKENDS_VARIABLE) === "") {
    setVariable(BACKENDS_VARIABLE, OPENGL.test(asked) ? "gl" : BACKENDS);
  }
  const patterns = DRIVERS.find(([name]) => name.test(asked))?.[1];
  if (patterns && readVariable(DRIVERS_VARIABLE) === "") setVariable(DRIVERS_VARIABLE, patterns);
}

function isOpenGlAsked(asked: string): boolean {
  return [asked, ...readVariable(BACKENDS_VARIABLE).split(",")]
    .some((name) => OPENGL.test(name.trim()));
}

/** The adapters that WebGPU gives, the fast ones first, each once. */
async function list(gpu: GPU, withOpenGl: boolean, withAll: boolean): Promise<Candidate[]> {
  const requests: GPURequestAdapterOptions[] = [
    { powerPreference: "high-performance" },
    {},
    { powerPreference: "low-power" },
    ...withAll ? [{ forceFallbackAdapter: true }] : [],
  ];
  const found: Candidate[] = [];
  for (const request of requests) {
    const adapter = await gpu.requestAdapter(request);
    if (!adapter) continue;
    const facts = adapterFacts(adapter.info);
    if (facts.openGl && !withOpenGl) continue;
    if (found.some((other) => other.facts.description === facts.description)) continue;
    found.push({ adapter, facts });
    if (!withAll && rank(facts) === 0) break;
  }
  return found;
}

/** The place of an adapter among others, the lowest first. */
function rank({ software, integrated }: AdapterFacts): number {
  return software ? 2 : integrated ? 1 : 0;
}

function isNamed({ description }: AdapterFacts, name: string): boolean {
  return description.toLowerCase().includes(name.toLowerCase());
}

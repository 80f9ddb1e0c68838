// Tests of whole models on GPUs that are pretended: the logits in steps of 1 to 24, 33 and 72 rows
// beside those of the software driver as itself. models_int8.ts and models_exact.ts register them, so
// that they run side by side. GPUs that differ in workgroup memory alone take turns, unless QUERN_SWEEP
// is set: nearly all of their kernels are equal. Models come from the conformance data.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { assert } from "@std/assert";
import { type QuantizationName, quantizeModel } from "../../../engine/create/mod.ts";
import { loadModel, type LocalLoadOptions } from "../../../engine/mod.ts";
import { conformanceTest, DATA } from "../../conformance/logits.ts";
import { nmse } from "../../numbers.ts";
import { pretendedCode, pretendGpu } from "../../pretended_gpu.ts";
import { DISTINCT_PROFILES, type Profile } from "../../profiles.ts";
import { type Kernels, recordingGpu } from "../../recording_gpu.ts";

/** Models of each kind: int8 products, K-quants, experts, delta nets, scans, windows. */
const MODELS = [
  "quantizations/Q8_0",
  "quantizations/Q4_K_M",
  "architectures/qwen3moe-moe",
  "architectures/qwen3moe-moe in Q8_0",
  "architectures/qwen35-dense",
  "architectures/falcon-h1-dense",
  "architectures/gemma3-dense",
];

const STEPS = [...Array.from({ length: 24 }, (_, i) => i + 1), 33, 72];
const TOKENS = Array.from({ length: 72 }, (_, i) => (i * 37 + 11) % 120);

/** Of the logits' power: int8 activations fall on the other side of a rounding, f32 sums differ. */
const MOST_ERROR = { int8: 1e-3, exact: 1e-8 };

/** Whether a model is computed on a profile. Profiles come in pairs that differ in workgroup memory. */
function isTurn(model: number, profile: number): boolean {
  const isOther = (Math.floor(profile / 2) + model) % 2 === 1;
  return Deno.env.has("QUERN_SWEEP") || profile % 2 === (isOther ? 1 : 0);
}

/** Tokens for steps of so many rows: two steps of them, and one of fewer. */
function tokensFor(step: number): number[] {
  return TOKENS.slice(0, 2 * step + Math.ceil(step / 2));
}

/** Models that were made from others, by their names. */
const made = new Map<string, Promise<string>>();

/** The file of a model; "NAME in TYPE" is made. */
function fileOf(name: string): URL | Promise<string> {
  const [plain, type] = name.split(" in ");
  const from = new URL(`${plain}.gguf`, DATA);
  if (type === undefined) return from;
  const make = async () => {
    const to = await Deno.makeTempFile({ suffix: ".gguf" });
    globalThis.addEventListener("unload", () => Deno.removeSync(to));
    await quantizeModel({ from: fileURLToPath(from), to, type: type as QuantizationName });
    return to;
  };
  const file = made.get(name) ?? make();
  made.set(name, file);
  return file;
}

/** Logits in steps of so many rows, of {@linkcode tokensFor}. */
async function logitsOf(
  name: string,
  options: LocalLoadOptions,
  steps: readonly number[],
): Promise<Float32Array[]> {
  await using model = await loadModel(await fileOf(name), {
    contextLength: 128,
    maxSequences: 2,
    prefillChunk: 72,
    ...options,
  });
  const logits: Float32Array[] = [];
  for (const step of steps) logits.push(await model.logits(tokensFor(step), { chunkSize: step }));
  return logits;
}

/** A digest of all kernels that a model has on such a GPU, and of their workgroups. */
async function workOf(name: string, profile: Profile, options: LocalLoadOptions): Promise<string> {
  const kernels: Kernels = new Map();
  const dispatches: string[] = [];
  const gpu = recordingGpu(profile, kernels, dispatches);
  await logitsOf(name, { ...options, device: { gpu } }, STEPS);
  const hash = createHash("sha256");
  for (const code of kernels.keys()) hash.update(pretendedCode(profile, code));
  return hash.update(dispatches.join(" ")).digest("hex");
}

/** Registers the tests of models with int8 activations, or with float ones. */
export function testModels(arithmetic: "int8" | "exact"): void {
  const options = { exact: arithmetic === "exact" };
  const most = MOST_ERROR[arithmetic];
  for (const [number, name] of MODELS.entries()) {
    let itself: Promise<Float32Array[]> | undefined;
    /** Errors of each step, by the digest of what was computed. */
    const found = new Map<string, Promise<number[]>>();
    const errorsOn = async (profile: Profile): Promise<number[]> => {
      itself ??= logitsOf(name, options, [72]);
      const [expected] = await itself;
      const pretended = { ...options, device: { gpu: pretendGpu(profile) } };
      const logits = await logitsOf(name, pretended, STEPS);
      return logits.map((some) => nmse(some, expected.subarray(0, some.length)));
    };
    for (const [at, profile] of DISTINCT_PROFILES.entries()) {
      if (!profile.software && !isTurn(number, at)) continue;
      conformanceTest(`${name}, ${arithmetic}, on ${profile.name}`, async () => {
        // GPUs that have the same work to do find the same.
        const work = await workOf(name, profile, options);
        if (!found.has(work)) found.set(work, errorsOn(profile));
        const errors = await found.get(work)!;
        const wrong = STEPS.filter((_, i) => !(errors[i] <= most));
        const worst = errors.reduce((a, b) => Math.max(a, b));
        assert(wrong.length === 0, `NMSE ${worst}, in steps of ${wrong}`);
      });
    }
  }
}

// Every kernel that any GPU gets, single products and whole models, in the hands of both compilers of
// WGSL: naga, which Deno has, and Tint, Chrome's, where its package loads. Nothing is run.

import { assert, assertEquals } from "@std/assert";
import { DATA, hasData, namesIn } from "../conformance/logits.ts";
import { requestAdapter } from "../../kernels/webgpu/mod.ts";
import { DEVICES } from "../gpu.ts";
import { KINDS, productKernels } from "../kernels/product_profiles.ts";
import { DISTINCT_PROFILES, type Profile, PROFILES } from "../profiles.ts";
import { demandsOf } from "../kernel_demands.ts";
import { modelKernels } from "../model_kernels.ts";
import type { Kernels } from "../recording_gpu.ts";

/** What a compiler has against a kernel. */
type Compile = (code: string) => Promise<string[]>;

async function nagaErrors(): Promise<Compile> {
  const device = await (await requestAdapter(navigator.gpu))!.requestDevice({
    requiredFeatures: ["subgroups" as GPUFeatureName],
  });
  return async (code) => {
    device.pushErrorScope("validation");
    device.createShaderModule({ code: code.replace("enable subgroups;\n", "") });
    const error = await device.popErrorScope();
    return error ? [error.message] : [];
  };
}

async function tintErrors(): Promise<Compile | undefined> {
  const dawn = DEVICES.find(({ name }) => name === "Dawn")?.options.gpu as GPU | undefined;
  const adapter = await dawn?.requestAdapter();
  const device = await adapter?.requestDevice({
    requiredFeatures: ["subgroups" as GPUFeatureName],
  });
  if (!device) return undefined;
  return async (code) => {
    const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
    return messages.filter(({ type }) => type === "error").map(({ message }) => message);
  };
}

const compilers = { naga: await nagaErrors(), Tint: await tintErrors() };
const compilerNames = compilers.Tint ? "naga and Tint" : "naga (skipped: Tint does not load)";
const paths = hasData
  ? (await Promise.all(["quantizations", "architectures"].map(async (folder) => {
    const names = await namesIn(folder);
    return names.map((name) => new URL(`${folder}/${name}.gguf`, DATA));
  }))).flat()
  : [];

/** Kernels that both have seen. */
const seen = new Set<string>();

async function assertCompile(kernels: Kernels, profile: Profile): Promise<void> {
  const compiled = [...kernels].map(async ([code, name]) => {
    const { memory, invocations } = demandsOf(code);
    const what = `${name} on ${profile.name}: ${memory} bytes, ${invocations} invocations`;
    assert(memory <= profile.memory && invocations <= profile.invocations, what);
    if (seen.has(code)) return;
    seen.add(code);
    for (const [compiler, errors] of Object.entries(compilers)) {
      assertEquals(await errors?.(code) ?? [], [], `${compiler}: ${what}\n${code}`);
    }
  });
  await Promise.all(compiled);
}

for (const profile of PROFILES) {
  Deno.test(`kernels of products compile by ${compilerNames} on ${profile.name}`, async () => {
    await assertCompile(await productKernels(profile, KINDS), profile);
  });
}

/** Kernels that depend on nothing else, by model, hardware or software, and workgroup memory. */
const alike = new Map<string, string[]>();

/** Names of such kernels. */
const ALIKE = /^(attention|penalize|survey|candidates|select|sample)/;

for (const profile of DISTINCT_PROFILES) {
  Deno.test({
    name: `kernels of ${paths.length} models compile by ${compilerNames} on ${profile.name}`,
    ignore: !hasData,
    async fn() {
      for (const path of paths) {
        const kernels = await modelKernels(path, profile);
        await assertCompile(kernels, profile);
        // Else attention.ts and sampling.ts here have to compute on more of them.
        const some = [...kernels].filter(([, name]) => ALIKE.test(name)).map(([code]) => code)
          .sort();
        const kind = `${path} ${profile.software} ${profile.memory}`;
        assertEquals(some, alike.get(kind) ?? some, "attention or sampling depends on more");
        alike.set(kind, some);
      }
    },
  });
}

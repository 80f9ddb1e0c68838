// `deno task test:translations [NAME...]`: every kernel that any GPU gets, single products and whole
// models, into the languages of Metal, Direct3D and Vulkan, as Deno translates them on other systems.
// Names pick models of the conformance data. Ends with status 1 if a kernel cannot be translated.

import { join } from "node:path";
import { DATA, hasData, namesIn } from "../conformance/logits.ts";
import { KINDS, productKernels } from "../kernels/product_profiles.ts";
import { modelKernels } from "../model_kernels.ts";
import { DISTINCT_PROFILES } from "../profiles.ts";
import { writeTinyLlama } from "../tiny_model.ts";
import { findTools, print, type Tools } from "./tools.ts";

/** Models of each kind of operation, which is what kernels depend on. */
const MODELS = [
  "quantizations/Q8_0",
  "quantizations/Q4_K_M",
  "architectures/gemma3-dense",
  "architectures/qwen3moe-moe",
  "architectures/qwen35-dense",
  "architectures/falcon-h1-dense",
  "architectures/kimi-linear-moe",
  "architectures/gpt-oss-moe",
];

/** Languages that one run of naga writes. */
interface Target {
  readonly name: string;
  readonly endings: readonly string[];
  readonly options: readonly string[];
  /** Whether they have subgroups. */
  readonly hasSubgroups: boolean;
}

const TARGETS: readonly Target[] = [
  {
    name: "Metal 3.0, HLSL 6.0 and SPIR-V 1.3",
    endings: ["metal", "hlsl", "spv"],
    options: ["--metal-version", "3.0", "--shader-model", "60", "--spirv-version", "1.3"],
    hasSubgroups: true,
  },
  {
    name: "Metal 2.1 and HLSL 5.1, without subgroups",
    endings: ["metal", "hlsl"],
    options: ["--metal-version", "2.1", "--shader-model", "51"],
    hasSubgroups: false,
  },
];

/** What naga does not know of Dawn's WGSL, and does not need. */
const DIRECTIVE = "enable subgroups;\n";

/** The kernels of products and of models, by their code. */
async function collect(names: readonly string[]): Promise<Map<string, string>> {
  const kernels = new Map<string, string>();
  const folder = await Deno.makeTempDir();
  try {
    const tiny = join(folder, "tiny.gguf");
    await writeTinyLlama(tiny, { type: "Q4_0" });
    const models = names.map((name) => new URL(`${name}.gguf`, DATA));
    for (const profile of DISTINCT_PROFILES) {
      const all = [await productKernels(profile, KINDS)];
      for (const path of [tiny, ...models]) all.push(await modelKernels(path, profile));
      for (const some of all) {
        for (const [code, name] of some) kernels.set(code.replace(DIRECTIVE, ""), name);
      }
    }
    return kernels;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function modelsNamed(words: readonly string[]): Promise<string[]> {
  if (!hasData) {
    print("No conformance data beside the project: kernels of a tiny model and of products.");
    return [];
  }
  if (words.length === 0) return MODELS;
  const folders = ["quantizations", "architectures"];
  const all = (await Promise.all(
    folders.map(async (folder) => (await namesIn(folder)).map((name) => `${folder}/${name}`)),
  )).flat();
  return all.filter((name) => words.includes("all") || words.some((word) => name.includes(word)));
}

/** What a tool has against a kernel in these languages; undefined if nothing. */
async function translate(
  { naga, spirvVal, dxc }: Tools,
  code: string,
  { endings, options, hasSubgroups }: Target,
  path: string,
): Promise<string | undefined> {
  await Deno.writeTextFile(`${path}.wgsl`, code);
  const written = endings.map((ending) => `${path}.${ending}`);
  const fault = await naga!.run(`${path}.wgsl`, ...written, ...options);
  if (fault) return `naga: ${fault}`;
  const invalid = endings.includes("spv") &&
    await spirvVal?.run("--target-env", "vulkan1.1", `${path}.spv`);
  if (invalid) return `spirv-val: ${invalid}`;
  // Microsoft's compiler knows models from 6.0 on.
  const refused = hasSubgroups &&
    await dxc?.run("-T", "cs_6_0", "-E", "main", `${path}.hlsl`, "-Fo", `${path}.dxil`);
  return refused ? `dxc: ${refused}` : undefined;
}

const tools = await findTools();
for (const sentence of tools.missing) print(sentence);
if (!tools.naga) Deno.exit(0);

const names = await modelsNamed(Deno.args);
print(`Collecting the kernels of products and ${names.length + 1} models.`);
const kernels = [...await collect(names)];
const folder = await Deno.makeTempDir();
let failed = 0;
for (const target of TARGETS) {
  const own = kernels.filter(([code]) => target.hasSubgroups || !/\bsubgroup/.test(code));
  let next = 0;
  let wrong = 0;
  const work = async (worker: number) => {
    while (next < own.length) {
      const [code, name] = own[next++]!;
      const fault = await translate(tools, code, target, join(folder, `${worker}`));
      if (!fault) continue;
      wrong++;
      print(`${name} into ${target.name}: ${fault}\n${code}\n`);
    }
  };
  await Promise.all(Array.from({ length: navigator.hardwareConcurrency }, (_, i) => work(i)));
  print(`${target.name}: ${own.length - wrong} of ${own.length} kernels`);
  failed += wrong;
}
await Deno.remove(folder, { recursive: true });
print(`${failed === 0 ? "All are translated." : `${failed} translations failed.`}`);
Deno.exit(failed === 0 ? 0 : 1);

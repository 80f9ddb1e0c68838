// What the store says of a model. Types alone.

import type { ModelInfo } from "../types.ts";
import type { Manifest } from "./manifest.ts";

/** The facts of a model that its config blob holds, as Ollama names them. */
export interface ModelConfig {
  /** "gguf"; of a remote model, empty. */
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
  /** Program that writes prompts in place of the template. */
  renderer?: string;
  /** Program that reads answers. */
  parser?: string;
  /** Least version of Ollama. */
  requires?: string;
  /** Server that runs the model, instead of this one. */
  remote_host?: string;
  /** The model's name there. */
  remote_model?: string;
  /** What the model can be asked for: "completion", "tools" and the like. */
  capabilities?: string[];
  /** Trained window in tokens. */
  context_length?: number;
  /** Width of the embeddings. */
  embedding_length?: number;
  /** The template layer was written by the model's creator, and goes before the one in the file. */
  template_source?: "modelfile";
  /** Whatever else other programs keep. */
  [other: string]: unknown;
}

/** What requests to a model leave out and its creator chose. */
export interface ModelDefaults {
  /** In the template language of Go. */
  template?: string;
  /** "modelfile": the template goes before the one in the file. */
  templateSource?: "modelfile";
  /** System prompt. */
  system?: string;
  /** Options by their names in Ollama's API. */
  parameters: Record<string, unknown>;
  /** Conversation that comes before every other. */
  messages: readonly { role: string; content: string }[];
  /** Texts of licenses. */
  license: readonly string[];
  /** Program that writes prompts in place of the template. */
  renderer?: string;
  /** Program that reads answers. */
  parser?: string;
  /** Least version of Ollama. */
  requires?: string;
}

/** Where a model runs from: absolute paths of GGUF files, or a server. */
export type ModelSource =
  | { kind: "files"; path: string; projector?: string; adapters: readonly string[] }
  | { kind: "remote"; host: string; model: string };

/** A model of the store. */
export interface StoreEntry {
  /** Full name with tag, or the path by which it was asked for. */
  readonly name: string;
  /** Size in bytes of all that belongs to it. */
  readonly size: number;
  /** When it was last changed. */
  readonly modified: Date;
  /** What is known without running it. */
  readonly info: ModelInfo;
  /** What to run. */
  readonly source: ModelSource;
  /** What its creator chose. */
  readonly defaults: ModelDefaults;
  /** Its blobs; a file that lies about has none. */
  readonly manifest?: Manifest;
  /** Its facts as stored; a file that lies about has none. */
  readonly config?: ModelConfig;
}

/** Models that other servers run, as far as the store asks for them. */
export interface RemoteDirectory {
  /** Fails, with an error for who asks, if no model of that server may be used. */
  admit(host: string): Promise<void>;
  /** The model that a name without a manifest stands for; undefined if it is none of another server's. */
  find(name: string): Promise<StoreEntry | undefined>;
  /** Models that are there without a manifest. */
  list(): Promise<StoreEntry[]>;
  /** The entry with what the server that runs it says of it. */
  complete(entry: StoreEntry): Promise<StoreEntry>;
}

/** What a store needs. */
export interface StoreOptions {
  /** Folder of the models; it may be missing, then there are none. */
  folder: string;
  /** Reads the header of a file, and that of its projector. */
  inspect: (path: string, options?: { projector?: string }) => Promise<ModelInfo>;
  /**
   * Whether the path of a .gguf file or a folder anywhere on disk is a name too. Default false:
   * whoever may ask for models by name may then have any such file read.
   */
  allowPaths?: boolean;
  /** Told once of each model that a listing leaves out because it cannot be read. */
  onBroken?: (path: string, error: unknown) => void;
  /** Models that come with the program: there unless the store has one of that name. */
  builtin?: readonly { name: string; path: string }[];
  /** Models that other servers run. */
  remote?: RemoteDirectory;
  /** Leave blobs that no model uses any more where they are, until prune() is called. */
  keepUnused?: boolean;
}

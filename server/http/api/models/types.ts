// The bodies of the native API that are about keeping models, as TypeScript types. The schemas in
// schemas/models.ts see to it that a request is what its type says.

import type { OllamaDetails } from "../ollama/types.ts";
import type { Given } from "../options.ts";

/** A request about one model; `name` is the older word for it. */
export interface ModelBody {
  model?: Given<string>;
  name?: Given<string>;
}

/** Answer of POST /api/show. */
export interface OllamaShow {
  license?: string;
  modelfile: string;
  /** A line per value. */
  parameters?: string;
  template?: string;
  system?: string;
  renderer?: string;
  parser?: string;
  details: OllamaDetails;
  messages?: { role: string; content: string }[];
  remote_model?: string;
  remote_host?: string;
  model_info?: Record<string, unknown>;
  projector_info?: Record<string, unknown>;
  tensors?: { name: string; type: string; shape: number[] }[];
  capabilities: string[];
  modified_at: string;
  requires?: string;
}

/** Body of POST /api/create. */
export interface CreateBody extends ModelBody {
  from?: Given<string>;
  /** Digests by file name. */
  files?: Given<Record<string, string>>;
  adapters?: Given<Record<string, string>>;
  draft_files?: Given<Record<string, string>>;
  quantize?: Given<string>;
  /** The older word for it. */
  quantization?: Given<string>;
  template?: Given<string>;
  system?: Given<string>;
  parameters?: Given<Record<string, unknown>>;
  messages?: Given<{ role: string; content?: Given<string> }[]>;
  license?: Given<string | string[]>;
  requires?: Given<string>;
  renderer?: Given<string>;
  parser?: Given<string>;
  info?: Given<Record<string, unknown>>;
  remote_host?: Given<string>;
  stream?: Given<boolean>;
}

/** Body of POST /api/pull and /api/push. */
export interface TransferBody extends ModelBody {
  /** Whether http will do. */
  insecure?: Given<boolean>;
  stream?: Given<boolean>;
}

/** Body of POST /api/copy. */
export interface CopyBody {
  source?: Given<string>;
  destination?: Given<string>;
}

// What the native API answers about one model, as a TypeScript type.

import type { OllamaDetails } from "../ollama/types.ts";

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

// The architectures by their GGUF name. A new one is its own file and one line here.

import { UnsupportedModelError } from "../errors.ts";
import type { Architecture } from "./architecture.ts";
import { loadLlama } from "./llama.ts";

const ARCHITECTURES: Record<string, Architecture> = {
  llama: loadLlama,
};

/** The architecture of this name. Errors: UnsupportedModelError, listing those that are there. */
export function architectureOf(name: string): Architecture {
  const architecture = Object.hasOwn(ARCHITECTURES, name) ? ARCHITECTURES[name] : undefined;
  if (architecture) return architecture;
  throw new UnsupportedModelError(
    `Cannot run architecture "${name}": supported are ${Object.keys(ARCHITECTURES).join(", ")}`,
  );
}

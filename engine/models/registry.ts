// The architectures of list.ts by their names in GGUF files.

import { UnsupportedModelError } from "../errors.ts";
import type { Architecture } from "./architecture.ts";
import * as list from "./list.ts";

/** All architectures by name; a name that has several models is one of its architecture's. */
export const architectures: ReadonlyMap<string, Architecture> = new Map(
  Object.values<Architecture>(list).flatMap((architecture) =>
    Object.keys(architecture.models).map((name) => [name, architecture])
  ),
);

/** The architecture of this name. Errors: UnsupportedModelError, which lists the supported ones. */
export function architectureOf(name: string): Architecture {
  const architecture = architectures.get(name);
  if (architecture) return architecture;
  const supported = [...architectures.keys()].sort().join(", ");
  throw new UnsupportedModelError(
    `Cannot run architecture "${name}": supported are ${supported}`,
  );
}

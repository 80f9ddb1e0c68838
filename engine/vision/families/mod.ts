// Finds the family of an image encoder by its projector, or by the decoder for which it was made.

import { UnsupportedModelError } from "../../errors.ts";
import type { MetadataReader } from "../../gguf/mod.ts";
import type { Config } from "../../nn/mod.ts";
import type { OllamaFile, VisionFamily } from "../network/family.ts";
import * as families from "./list.ts";

const FAMILIES: readonly VisionFamily[] = Object.values(families);

/** The supported projector types. */
const PROJECTOR_TYPES: readonly string[] = FAMILIES.map(({ projector }) => projector);

/** The type of a projector whose file names none. */
const OLDEST_TYPE = "mlp";

/** The family of a projector by the metadata of its file. Errors: UnsupportedModelError. */
export function familyOf(metadata: MetadataReader, path: string): VisionFamily {
  const type = metadata.optionalString("clip.projector_type", "") ||
    metadata.optionalString("clip.vision.projector_type", OLDEST_TYPE);
  const family = FAMILIES.find(({ projector }) => projector === type);
  if (family) return family;
  throw new UnsupportedModelError(
    `Cannot load "${path}": its image projector is of type "${type}", which is not ` +
      `supported; those that are: ${PROJECTOR_TYPES.join(", ")}`,
  );
}

/** The family for a decoder's architecture, and how Ollama's files of it differ. */
export function familyOfDecoder(
  architecture: string,
): { family: VisionFamily; file: OllamaFile } | undefined {
  for (const family of FAMILIES) {
    const { decoders = {} } = family;
    if (Object.hasOwn(decoders, architecture)) return { family, file: decoders[architecture] };
  }
  return undefined;
}

/** Whether rows of an image attend to each other in both directions in a decoder. */
export function hasBidirectionalImages(decoder: Config): boolean {
  return familyOfDecoder(decoder.architecture)?.family.isBidirectional?.(decoder) ?? false;
}

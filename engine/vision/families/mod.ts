// The encoder families by the projector types of GGUF files.

import { UnsupportedModelError } from "../../errors.ts";
import type { EncoderFamily } from "../network/family.ts";
import { llava } from "./llava.ts";
import { gemma4v } from "./gemma4.ts";
import { llama4 } from "./llama4.ts";
import { pixtral } from "./pixtral.ts";
import { qwen25vl } from "./qwen2_5_vl.ts";
import { qwen3vl } from "./qwen3_vl.ts";
import { gemma3, idefics3 } from "./siglip.ts";

const FAMILIES: Record<string, EncoderFamily> = {
  gemma3,
  gemma4v,
  idefics3,
  llama4,
  mlp: llava,
  pixtral,
  "qwen2.5vl_merger": qwen25vl,
  qwen3vl_merger: qwen3vl,
};

/** The projector types that run. */
export const PROJECTOR_TYPES: readonly string[] = Object.keys(FAMILIES);

/** The family of a projector type. Errors: UnsupportedModelError. */
export function familyOf(projectorType: string, path: string): EncoderFamily {
  if (Object.hasOwn(FAMILIES, projectorType)) return FAMILIES[projectorType];
  throw new UnsupportedModelError(
    `Cannot load "${path}": its image projector is of type "${projectorType}", which is not ` +
      `supported; those that are: ${PROJECTOR_TYPES.join(", ")}`,
  );
}

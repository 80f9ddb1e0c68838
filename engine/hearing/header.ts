// The audio encoder in a GGUF file of architecture "clip", alone or beside an image encoder: its family,
// and its header with the shapes of tensors that the families expect.

import { UnsupportedModelError } from "../errors.ts";
import { type GgufFile, MetadataReader, type TensorInfo } from "../gguf/mod.ts";
import * as families from "./families/list.ts";
import { HearingConfig } from "./network/config.ts";
import type { HearingFamily } from "./network/family.ts";

const FAMILIES: readonly HearingFamily[] = Object.values(families);

/** Other names of projectors, in files that have both encoders. */
const ALIASES: Readonly<Record<string, string>> = { "qwen2.5o": "qwen2a" };

/** The audio encoder of a file. */
export interface HearingHeader {
  /** The file, as the families read it. */
  readonly gguf: GgufFile;
  readonly family: HearingFamily;
  readonly config: HearingConfig;
}

/** Whether a file has an audio encoder, of whatever family. */
export function hasAudioEncoder(gguf: GgufFile): boolean {
  const metadata = new MetadataReader(gguf);
  return metadata.optionalString("general.architecture", "") === "clip" &&
    metadata.has("clip.audio.block_count") &&
    gguf.tensors.keys().some((name) => /^(a|mm\.a)\./.test(name));
}

/**
 * Reads what a file tells about its audio encoder.
 *
 * @throws {UnsupportedModelError} if it has none, or none that is supported
 */
export function readHearingHeader(gguf: GgufFile): HearingHeader {
  if (!hasAudioEncoder(gguf)) {
    throw new UnsupportedModelError(`Cannot load "${gguf.path}": it has no audio encoder`);
  }
  const metadata = new MetadataReader(gguf);
  const named = metadata.optionalString("clip.audio.projector_type", "") ||
    metadata.optionalString("clip.projector_type", "");
  const type = ALIASES[named] ?? named;
  const family = FAMILIES.find(({ projector }) => projector === type);
  if (!family) {
    throw new UnsupportedModelError(
      `Cannot load "${gguf.path}": its audio projector is of type "${named}", which is not ` +
        `supported; those that are: ${FAMILIES.map(({ projector }) => projector).join(", ")}`,
    );
  }
  const tensors = new Map(gguf.tensors.entries().map(([name, tensor]) => [name, flat(tensor)]));
  const view = { ...gguf, tensors };
  return { gguf: view, family, config: new HearingConfig(metadata, gguf.path, "clip.audio") };
}

/** The kernel of a convolution as one axis: [width, height, inputs, outputs] -> [taps, inputs, outputs]. */
function flat(tensor: TensorInfo): TensorInfo {
  if (!/^a\.conv\w*\./.test(tensor.name) || tensor.shape.length !== 4) return tensor;
  const [width, height, inputs, outputs] = tensor.shape;
  return { ...tensor, shape: [width * height, inputs, outputs] };
}

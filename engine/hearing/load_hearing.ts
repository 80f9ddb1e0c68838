// Finds the audio encoder of a model, in its projector, and loads it on the decoder's device. What only needs
// headers is separate from what needs weights, so that a load can be estimated.

import type { Device } from "../../kernels/mod.ts";
import { GgufError, UnsupportedModelError } from "../errors.ts";
import { type GgufFile, MetadataReader, readGguf } from "../gguf/mod.ts";
import { Config } from "../nn/mod.ts";
import { type ProvedPart, proveEncoder } from "../proof/mod.ts";
import type { Scheduler } from "../run/mod.ts";
import type { LoadOptions } from "../types/mod.ts";
import { loadSoundEncoder, type SoundEncoder, type SoundEncoderOptions } from "./encoder.ts";
import { hasAudioEncoder, readHearingHeader } from "./header.ts";
import { HearingReader } from "./reader.ts";

/** A loaded encoder, and the reader that uses it. */
export interface LoadedHearing {
  readonly encoder: SoundEncoder;
  readonly reader: HearingReader;
}

/**
 * The reason why a decoder cannot hear with the encoder of a file, for people; undefined if it can.
 */
export function hearingFault(decoder: GgufFile, file: GgufFile): string | undefined {
  try {
    const { gguf, family } = readHearingHeader(file);
    const columns = family.columns(gguf);
    const metadata = new MetadataReader(decoder);
    const architecture = metadata.string("general.architecture");
    const { width } = new Config(metadata, decoder.path, architecture);
    if (columns === width) return undefined;
    return `Cannot hear with "${file.path}": it makes rows of ${columns} values, and ` +
      `"${decoder.path}" takes rows of ${width}; use the projector that was made for the model`;
  } catch (error) {
    if (error instanceof UnsupportedModelError || error instanceof GgufError) return error.message;
    throw error;
  }
}

/** The file with a model's audio encoder: that of its projector. Errors: GgufError. */
export async function findHearing(
  gguf: GgufFile,
  isEncoder: boolean,
  { projector }: Pick<LoadOptions, "projector">,
): Promise<GgufFile | undefined> {
  if (projector === undefined || isEncoder) return undefined;
  const file = await readGguf(projector, gguf.files);
  return hearingFault(gguf, file) === undefined ? file : undefined;
}

/**
 * Refuses a projector with an audio encoder alone that the model cannot use; one that has other encoders, or
 * none, is not judged here.
 *
 * @throws {UnsupportedModelError} naming the fault
 */
export function checkHearing(gguf: GgufFile, file: GgufFile): void {
  const fault = hasAudioEncoder(file) ? hearingFault(gguf, file) : undefined;
  if (fault !== undefined) throw new UnsupportedModelError(fault);
}

/** What is needed to load an encoder beside a decoder. */
export interface LoadHearingOptions extends Pick<SoundEncoderOptions, "openTensors" | "signal"> {
  readonly scheduler: Scheduler;
  /** Floats of a row that the decoder takes. */
  readonly columns: number;
}

/** Loads an encoder. Errors: those of loadSoundEncoder(). */
export async function loadHearing(
  file: GgufFile,
  device: Device,
  { scheduler, columns, ...options }: LoadHearingOptions,
): Promise<LoadedHearing> {
  const encoder = await loadSoundEncoder(file, device, options);
  const reader = new HearingReader(
    encoder,
    columns,
    (work, signal) => scheduler.between(work, signal),
  );
  return { encoder, reader };
}

/** Most frames of the window by which a device is proved. */
const PROVED_FRAMES = 200;

/** The encoder that was loaded from a file, as a part of its model by which its device is proved. */
export function provedHearing(file: GgufFile, encoder: SoundEncoder): ProvedPart {
  return {
    name: "the audio encoder",
    file,
    prove: async () => {
      const { rate } = encoder.features;
      const samples = Float32Array.from(
        { length: rate },
        (_, i) => Math.sin(0.05 * i + i * i * 1e-6),
      );
      const [window] = await encoder.features.read(samples);
      const frames = Math.max(PROVED_FRAMES, window.frames);
      return await proveEncoder(
        await encoder.operationsFor(window),
        async (device, where) => {
          const twin = await loadSoundEncoder(file, device, { frames, ...where });
          const step = await twin.operationsFor(window);
          return { ...step, [Symbol.dispose]: () => twin[Symbol.dispose]() };
        },
      );
    },
  };
}

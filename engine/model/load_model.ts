// Loads a model in this process: its files, its devices, and the proof of a device, after which the CPU
// takes over from one that computes wrong values.

import { type ByteSources, type GgufFile, readGguf } from "../gguf/mod.ts";
import { openDevices } from "../load/mod.ts";
import { isSpeechArchitecture } from "../speech/mod.ts";
import type { DeviceRefusal } from "../types/mod.ts";
import { viewAsDecoder } from "../vision/mod.ts";
import { openSources } from "../web_files/mod.ts";
import { type LocalLoadOptions, LocalModel, type Model } from "./model.ts";
import { loadSpeechModel } from "./speech_model.ts";

/**
 * Loads a GGUF model into the memory of a device.
 *
 * @param path a file path or a file: URL, or a name of `files`
 * @throws GgufError, UnsupportedModelError, TokenizerError, GpuError, GpuMemoryError; the signal's
 *   reason
 */
export async function loadModel(
  path: string | URL,
  options: LocalLoadOptions = {},
): Promise<Model> {
  const gguf = await readModel(path, options);
  if (isSpeech(gguf)) return await openSpeech(gguf, options);
  const { model, refusal } = await openAndProve(gguf, options);
  if (!refusal) return model.begin(options.signal);
  await model.close();
  const warnings = [...options.warnings ?? [], describeRefusal(refusal)];
  const { beside: _, ...others } = options;
  const onCpu = { ...others, warnings, device: { kind: "cpu" } } as const;
  return (await open(gguf, onCpu, refusal)).begin(options.signal);
}

/** The header of a model's file, as a load sees it. Errors: GgufError. */
export async function readModel(
  path: string | URL,
  options: LocalLoadOptions,
): Promise<GgufFile> {
  return viewAsDecoder(await readGguf(path, await filesOf(options)));
}

/** A model on its device, on which nothing ran yet but its proof, and why it must not be used there. */
export async function openAndProve(
  gguf: GgufFile,
  options: LocalLoadOptions,
): Promise<{ model: LocalModel; refusal?: DeviceRefusal }> {
  const model = await open(gguf, options);
  try {
    const faults = await model.faults();
    return { model, ...(faults.length > 0 && { refusal: { device: model.device, faults } }) };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** What opens the files of a load; undefined: this machine does. */
async function filesOf(
  { files, sources, onProgress, signal }: LocalLoadOptions,
): Promise<ByteSources | undefined> {
  if (files || !sources) return files;
  return await openSources(sources, {
    onFetch: (fetching, loaded, total) => onProgress?.({ fetching, loaded, total }),
    ...(signal && { signal }),
  });
}

function isSpeech({ metadata }: GgufFile): boolean {
  return isSpeechArchitecture(String(metadata["general.architecture"]));
}

/** A model that transcribes speech. Its device is not compared with the CPU. */
async function openSpeech(gguf: GgufFile, options: LocalLoadOptions): Promise<Model> {
  const devices = await openDevices(gguf, options);
  try {
    const create = () => loadSpeechModel(gguf, devices, options);
    return await devices.placement.top.scoped(`load "${gguf.path}"`, create);
  } catch (error) {
    devices[Symbol.dispose]();
    throw error;
  }
}

async function open(
  gguf: GgufFile,
  options: LocalLoadOptions,
  refusal?: DeviceRefusal,
): Promise<LocalModel> {
  const devices = await openDevices(gguf, options);
  try {
    const create = () => LocalModel.load(gguf, devices, options, refusal);
    return await devices.placement.top.scoped(`load "${gguf.path}"`, create);
  } catch (error) {
    devices[Symbol.dispose]();
    throw error;
  }
}

/** Most faults that a sentence names; the others are counted. */
const MOST_NAMED = 3;

/** A sentence about a device that is not used. */
function describeRefusal({ device, faults }: DeviceRefusal): string {
  const named = faults.slice(0, MOST_NAMED).map(({ what, how }) => `${what}: ${how}`).join("; ");
  const more = faults.length > MOST_NAMED ? `; and ${faults.length - MOST_NAMED} more` : "";
  return `${device} computes the model wrongly, so the CPU answers: ${named}${more}`;
}

// Audio encoders of the conformance data: their sounds, and the rows that they make of them.

import { decodeSound } from "../../../engine/audio/mod.ts";
import { type GgufFile, readGguf } from "../../../engine/gguf/mod.ts";
import type { SoundEncoder } from "../../../engine/hearing/mod.ts";
import { concat } from "../../../engine/run/mod.ts";
import { DATA } from "../../conformance/logits.ts";

/** What a manifest says of a sound. */
export interface SoundRecord {
  file: string;
  windows: { n_len: number; n_tokens: number; rest?: number; stored_frames: number | number[] }[];
  chunks: { type: "text" | "audio"; tokens?: number[]; n_tokens?: number }[];
  mel: string;
  embd: string;
  embd_shape: [number, number];
  embd_rows?: number[];
  logits: string;
  logits_rows: number[];
  logits_shape: [number, number];
}

export interface HearingManifest {
  projector: string;
  prompt: string;
  files: { text: string };
  sounds: Record<string, SoundRecord>;
  sounds_more?: Record<string, SoundRecord>;
}

export function pathOf(fixture: string, file: string): URL {
  return new URL(`audio/${fixture}/${file}`, DATA);
}

export async function readManifest(fixture: string): Promise<HearingManifest> {
  return JSON.parse(await Deno.readTextFile(pathOf(fixture, "manifest.json")));
}

/** The encoder's file of a fixture. */
export function readFixture(fixture: string): Promise<GgufFile> {
  return readGguf(pathOf(fixture, "mmproj.gguf"));
}

export async function readFloats(fixture: string, file: string): Promise<Float32Array> {
  return new Float32Array((await Deno.readFile(pathOf(fixture, file))).buffer);
}

/** The rows of a sound's windows, one after the other. */
export async function encodeSound(encoder: SoundEncoder, bytes: Uint8Array): Promise<Float32Array> {
  const { features } = encoder;
  const samples = await decodeSound(bytes, { rate: features.rate });
  const rows: Float32Array[] = [];
  for (const window of await features.read(samples)) rows.push(await encoder.encode(window));
  return concat(rows);
}

/** The recorded rows among all rows. */
export function recordedRows(
  all: Float32Array,
  { embd_rows, embd_shape }: SoundRecord,
): Float32Array {
  const [rows, columns] = embd_shape;
  const wanted = embd_rows ?? Array.from({ length: rows }, (_, i) => i);
  return concat(wanted.map((row) => all.subarray(row * columns, (row + 1) * columns)));
}

/** Every fixture of the conformance data. */
export const FIXTURES = [
  // The first four are those of the everyday tests, one of each kind.
  ...["ultravox", "qwen3a", "gemma4a", "lfm2a"],
  ...["voxtral", "qwen2a", "glma", "meralion", "musicflamingo", "dots3note_a", "gemma4ua"],
  ...["parakeet", "granite_speech", "granite_speech_plus", "mimo_audio"],
] as const;

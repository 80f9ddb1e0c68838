// The SHA-256 of the whole content of files, computed beside other work of the thread: a piece at a
// time, fast while the model is idle, slowly while it answers.

import { sha256 } from "../../host/mod.ts";
import { nextTask } from "../async.ts";
import { type ByteSources, fill, localFiles } from "../gguf/mod.ts";

/** Bytes that are hashed at a time: about a millisecond. */
const PIECE = 2 ** 20;
/** Milliseconds between two pieces while the model answers. */
const PAUSE = 50;

/** The model beside whose work files are read. */
export interface BesideModel {
  /** Requests that run or wait. */
  readonly load: number;
  readonly isClosed: boolean;
}

/** Digests that were computed before. */
export interface KeptDigests {
  get(stamp: string): Promise<string | undefined>;
  put(stamp: string, digest: string): Promise<void>;
}

/** A file as it was when it was looked at. */
export interface LookedAt {
  readonly path: string;
  /** What opens it. */
  readonly files: ByteSources;
  /** In bytes. */
  readonly size: number;
  /** What the system tells of it; undefined where that is nothing. */
  readonly stamp: string | undefined;
}

/** Looks at a file, so that its digest is that of what was there. */
export async function lookAt(path: string, files: ByteSources = localFiles): Promise<LookedAt> {
  using file = await files.open(path);
  return { path, files, size: file.size, stamp: file.stamp };
}

/**
 * The digest of a file's content in hex.
 *
 * @param model beside which it is read; without one it is read in one go
 * @returns undefined if the file has changed since it was looked at, or the model was closed
 */
export async function digestOf(
  { path, files, stamp }: LookedAt,
  kept?: KeptDigests,
  model?: BesideModel,
): Promise<string | undefined> {
  const known = stamp === undefined ? undefined : await kept?.get(stamp);
  if (known !== undefined) return known;
  using file = await files.open(path);
  if (file.stamp !== stamp) return undefined;
  const hash = sha256();
  const piece = new Uint8Array(PIECE);
  for (let at = 0; at < file.size; at += PIECE) {
    if (model) await (model.load > 0 ? pause() : nextTask());
    if (model?.isClosed) return undefined;
    hash.update(piece.subarray(0, fill(file, at, piece)));
  }
  // Content that changed meanwhile, or just before, has no digest that could be kept.
  const after = await lookAt(path, files);
  if (after.stamp !== stamp) return undefined;
  const digest = hash.digest("hex");
  if (stamp !== undefined && file.isSettled) await kept?.put(stamp, digest);
  return digest;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE));
}

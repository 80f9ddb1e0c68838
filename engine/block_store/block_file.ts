// The file of one stored block: a mark, the SHA-256 of all that follows, the names of the model and
// of the block, two lengths, and the bytes. Files that are damaged, or belong to another block, are
// refused.

import { sha256 } from "../../host/mod.ts";
import type { StoredBlock } from "./types.ts";

/**
 * The beginning of each file. Its digit is increased when the layout of files or of their content
 * changes.
 */
const MARK = new TextEncoder().encode("QUERNKV1");

const DIGEST_BYTES = 32;
/** Bytes of two names of 40 digits, and two lengths. */
const HEAD_BYTES = 2 * 40 + 2 * 4;

/** The error of a file that is damaged or belongs to another block. */
export class BlockFileError extends Error {
  /** Name of the class. */
  override name = "BlockFileError";
}

/** The block that a file should hold. */
export interface BlockOwner {
  /** The rootName() of the model's identity. */
  readonly root: string;
  readonly name: string;
}

/** The bytes of a file. */
export function encodeBlockFile(owner: BlockOwner, { cached, states }: StoredBlock): Uint8Array {
  const from = MARK.length + DIGEST_BYTES;
  const bytes = new Uint8Array(from + HEAD_BYTES + cached.length + (states?.length ?? 0));
  bytes.set(MARK);
  bytes.set(headOf(owner, cached.length, states?.length ?? 0), from);
  bytes.set(cached, from + HEAD_BYTES);
  if (states) bytes.set(states, from + HEAD_BYTES + cached.length);
  bytes.set(digestOf(bytes.subarray(from)), MARK.length);
  return bytes;
}

/**
 * The block of a file. Its arrays are views of `bytes`.
 *
 * @throws {BlockFileError} if it is damaged, or belongs to another block
 */
export function decodeBlockFile(owner: BlockOwner, bytes: Uint8Array): StoredBlock {
  const from = MARK.length + DIGEST_BYTES;
  if (bytes.length < from + HEAD_BYTES) throw new BlockFileError("it is cut off");
  const head = new DataView(bytes.buffer, bytes.byteOffset + from, HEAD_BYTES);
  const [cachedLength, statesLength] = [80, 84].map((at) => head.getUint32(at, true));
  const expected = [
    [0, MARK, "it is of another version"],
    [from, headOf(owner, cachedLength!, statesLength!), "it is another block's"],
    [MARK.length, digestOf(bytes.subarray(from)), "its checksum is wrong"],
  ] as const;
  for (const [at, wanted, fault] of expected) {
    if (!wanted.every((byte, i) => byte === bytes[at + i])) throw new BlockFileError(fault);
  }
  if (bytes.length !== from + HEAD_BYTES + cachedLength! + statesLength!) {
    throw new BlockFileError("its length is wrong");
  }
  const cached = bytes.subarray(from + HEAD_BYTES, from + HEAD_BYTES + cachedLength!);
  const states = bytes.subarray(from + HEAD_BYTES + cachedLength!);
  return { cached, ...(statesLength! > 0 && { states }) };
}

function headOf({ root, name }: BlockOwner, cached: number, states: number): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES);
  head.set(new TextEncoder().encode(root + name).subarray(0, 80));
  const view = new DataView(head.buffer);
  view.setUint32(80, cached, true);
  view.setUint32(84, states, true);
  return head;
}

function digestOf(bytes: Uint8Array): Uint8Array {
  return sha256().update(bytes).digest();
}

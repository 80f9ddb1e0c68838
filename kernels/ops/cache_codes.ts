// Keys and values as codes, in plain loops, as every device writes and reads them. A group has one
// scale, f16. A code of q8_0 is a signed byte, and the largest magnitude becomes 127. A code of
// q4_0 is four bits, less 8, and the element with the largest magnitude becomes -8; eight elements
// are in four bytes, the first four in the low nibbles. Codes are rounded with the stored scale.

import { BLOCK, CACHE_GROUP, cacheGroups, cellBytes, headBlockBytes, isCoded } from "./kv_cache.ts";
import type { CacheType } from "./kv_cache.ts";

/** The scale of a group. */
function scaleOf(type: "q8_0" | "q4_0", values: readonly number[]): number {
  const [most, least] = [Math.max(...values), Math.min(...values)];
  const exact = type === "q8_0"
    ? Math.fround(Math.max(most, -least) / 127)
    : Math.fround((most > -least ? most : least) / -8);
  return Math.f16round(exact);
}

function nearestEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/** Blocks of a head, [blocks, BLOCK, elements], encoded as in a cache of this type. */
export function encodeCache(
  type: CacheType,
  elements: number,
  values: Float32Array,
): Uint8Array<ArrayBuffer> {
  if (type === "f32") return new Uint8Array(values.slice().buffer);
  if (type === "f16") return new Uint8Array(Float16Array.from(values).buffer);
  const [size, cell, groups] = [
    headBlockBytes(type, elements),
    cellBytes(type, elements),
    cacheGroups(elements),
  ];
  const count = values.length / elements;
  const bytes = new Uint8Array(Math.ceil(count / BLOCK) * size);
  const view = new DataView(bytes.buffer);
  for (let position = 0; position < count; position++) {
    const block = Math.floor(position / BLOCK) * size;
    for (let group = 0; group < groups; group++) {
      const first = group * CACHE_GROUP;
      const end = Math.min(elements, first + CACHE_GROUP);
      const own = [...values.subarray(position * elements + first, position * elements + end)];
      const scale = scaleOf(type, own);
      const offset = block + BLOCK * cell + 2 * (position % BLOCK * groups + group);
      view.setFloat16(offset, scale, true);
      const factor = Math.fround(1 / scale);
      own.forEach((value, i) => {
        const code = scale === 0 ? 0 : nearestEven(Math.fround(value * factor));
        const at = block + position % BLOCK * cell;
        const element = first + i;
        if (type === "q8_0") view.setInt8(at + element, Math.max(-127, Math.min(127, code)));
        else {
          const low = Math.max(-8, Math.min(7, code)) + 8;
          bytes[at + 4 * (element >> 3) + element % 4]! |= low << (element & 4);
        }
      });
    }
  }
  return bytes;
}

/** The values of blocks of a head: [blocks, BLOCK, elements]. */
export function decodeCache(type: CacheType, elements: number, bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, length } = bytes;
  const copied = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
  if (type === "f32") return new Float32Array(copied);
  if (type === "f16") return new Float32Array(new Float16Array(copied));
  const [size, cell, groups] = [
    headBlockBytes(type, elements),
    cellBytes(type, elements),
    cacheGroups(elements),
  ];
  const view = new DataView(copied);
  const count = length / size * BLOCK;
  return Float32Array.from({ length: count * elements }, (_, i) => {
    const [position, element] = [Math.floor(i / elements), i % elements];
    const block = Math.floor(position / BLOCK) * size;
    const at = block + position % BLOCK * cell;
    const group = position % BLOCK * groups + Math.floor(element / CACHE_GROUP);
    const scale = view.getFloat16(block + BLOCK * cell + 2 * group, true);
    const code = type === "q8_0"
      ? view.getInt8(at + element)
      : (view.getUint8(at + 4 * (element >> 3) + element % 4) >> (element & 4) & 15) - 8;
    return code * scale;
  });
}

/** The values after a cache has rounded them: [positions, elements]. */
export function throughCache(
  type: CacheType,
  elements: number,
  values: Float32Array,
): Float32Array {
  if (!isCoded(type)) return decodeCache(type, elements, encodeCache(type, elements, values));
  return decodeCache(type, elements, encodeCache(type, elements, values)).slice(0, values.length);
}

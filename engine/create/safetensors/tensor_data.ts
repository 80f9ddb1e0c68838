// The data of tensors from safetensors to GGUF: matrices keep their type, vectors become F32, and
// some matrices' rows are reordered. It is converted in slices, so that memory does not grow with
// the model.

import type { WritableTensor } from "../../gguf/mod.ts";
import { nextTask } from "../../async.ts";
import { FLOAT_BYTES, isFloatType, readFloats } from "../quantize/floats.ts";
import type { Architecture } from "./architecture.ts";
import { ConversionError } from "../../errors.ts";
import type { HeadSizes } from "./hyperparameters.ts";
import type { StoredTensor } from "./safetensors_file.ts";
import type { StoredModel } from "./stored_model.ts";

/** The context that all tensors of a model share. */
export interface TensorContext {
  readonly model: StoredModel;
  readonly architecture: Architecture;
  readonly sizes: HeadSizes;
  /** Called with the number of bytes of each slice. An error from it ends the work. */
  onSlice(bytes: number): void;
}

const SLICE_BYTES = 1 << 22;

/** A tensor for GGUF. Errors: ConversionError if its type or shape is not possible. */
export function convertTensor(
  context: TensorContext,
  tensor: StoredTensor,
  name: string,
): WritableTensor {
  const { type, shape } = tensor;
  const fault = (state: string) =>
    new ConversionError(tensor.file, `tensor "${tensor.name}"`, state);
  if (!isFloatType(type)) throw fault(`${type} is not supported, only F32, F16 and BF16`);
  if (shape.includes(0) || shape.length < 1 || shape.length > 2) {
    throw fault(`a shape of [${shape.join(", ")}] is neither a vector nor a matrix`);
  }
  const isVector = shape.length === 1;
  const addend = context.architecture.addsOneToNorms && name.endsWith("norm.weight") ? 1 : 0;
  const headLength = headLengthOf(context, tensor, name);
  return {
    name,
    shape: shape.toReversed(),
    type: isVector ? "F32" : type,
    async *data() {
      for (const slice of slicesOf(context.model, tensor, headLength)) {
        context.onSlice(slice.length);
        yield isVector ? toF32(slice, tensor, addend) : slice;
        await nextTask();
      }
    },
  };
}

/** Rows of a head whose halves are interleaved; 0 if rows keep their order. */
function headLengthOf(
  { architecture, sizes }: TensorContext,
  { file, name, shape }: StoredTensor,
  ggufName: string,
): number {
  if (!architecture.interleavesHeads || !/attn_[qk]\.(weight|bias)$/.test(ggufName)) return 0;
  const heads = ggufName.includes("attn_q") ? sizes.heads : sizes.keyValueHeads;
  if (shape[0] === heads * sizes.headLength) return sizes.headLength;
  const state = `${shape[0]} rows are not ${heads} heads of ${sizes.headLength}`;
  throw new ConversionError(file, `tensor "${name}"`, state);
}

/** The bytes of a tensor in order. Each slice is overwritten by the next one. */
function* slicesOf(
  model: StoredModel,
  tensor: StoredTensor,
  headLength: number,
): Generator<Uint8Array> {
  const rowBytes = tensor.byteLength / tensor.shape[0];
  const sliceBytes = headLength > 0 ? headLength * rowBytes : SLICE_BYTES;
  const buffer = new Uint8Array(Math.min(sliceBytes, tensor.byteLength));
  const interleaved = new Uint8Array(headLength > 0 ? sliceBytes : 0);
  for (let start = 0; start < tensor.byteLength; start += sliceBytes) {
    const slice = buffer.subarray(0, Math.min(sliceBytes, tensor.byteLength - start));
    model.read(tensor, start, slice);
    if (headLength > 0) interleaveRows(slice, interleaved, rowBytes);
    yield headLength > 0 ? interleaved : slice;
  }
}

/** Interleaves the rows of the two halves of a head. */
function interleaveRows(source: Uint8Array, target: Uint8Array, rowBytes: number): void {
  const half = source.length / rowBytes / 2;
  for (let pair = 0; pair < half; pair++) {
    for (const part of [0, 1]) {
      const start = (part * half + pair) * rowBytes;
      target.set(source.subarray(start, start + rowBytes), (2 * pair + part) * rowBytes);
    }
  }
}

function toF32(slice: Uint8Array, { type }: StoredTensor, addend: number): Uint8Array {
  if (!isFloatType(type)) return slice;
  const values = new Float32Array(slice.length / FLOAT_BYTES[type]);
  readFloats(type, slice, values);
  if (addend !== 0) { for (let i = 0; i < values.length; i++) values[i] += addend; }
  return new Uint8Array(values.buffer);
}

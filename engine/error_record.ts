// Errors as plain data and back, because postMessage keeps neither the class nor the fields of an
// error. Known classes are restored; any other error becomes an EngineError.

import { DeviceLostError, GpuError, GpuMemoryError, ResourceError } from "../kernels/mod.ts";
import { ChatTemplateError, TokenizerError } from "../tokenizer/mod.ts";
import { CancelledError } from "./cancellation.ts";
import {
  AdapterError,
  ContextLengthError,
  ConversionError,
  DeviceFailedError,
  EngineError,
  GgufError,
  InsufficientMemoryError,
  ModelClosedError,
  ModelCrashedError,
  ModelLostError,
  ModelNotFoundError,
  NotFiniteError,
  RequestError,
  UnsupportedModelError,
} from "./errors.ts";
import { AudioError } from "./audio/mod.ts";
import { DanglingReferenceError, GrammarError, SchemaError } from "./grammar/mod.ts";
import { ImageError } from "./vision/mod.ts";

/** An error without its class. */
export interface ErrorRecord {
  name: string;
  message: string;
  stack?: string;
  /** The fields that its class adds. */
  fields: Record<string, unknown>;
}

const CLASSES = {
  AdapterError,
  AudioError,
  CancelledError,
  ChatTemplateError,
  ContextLengthError,
  ConversionError,
  DanglingReferenceError,
  DeviceFailedError,
  DeviceLostError,
  EngineError,
  GgufError,
  GpuError,
  GpuMemoryError,
  GrammarError,
  ImageError,
  InsufficientMemoryError,
  ModelClosedError,
  ModelCrashedError,
  ModelLostError,
  ModelNotFoundError,
  NotFiniteError,
  RequestError,
  ResourceError,
  SchemaError,
  TokenizerError,
  UnsupportedModelError,
};

/** An error as plain data. Thrown values that are no errors work, too. */
export function packError(error: unknown): ErrorRecord {
  if (!(error instanceof Error)) return { name: "Error", message: String(error), fields: {} };
  const { name, message, stack } = error;
  // The code of the system's errors, by which callers recognize a full disk.
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const fields = Object.hasOwn(CLASSES, name) ? { ...error } : code;
  return { name, message, fields, ...(stack !== undefined && { stack }) };
}

/** The error of a record: `instanceof` and the fields of its class hold. */
export function unpackError({ name, message, stack, fields }: ErrorRecord): Error {
  const known = Object.hasOwn(CLASSES, name) ? name as keyof typeof CLASSES : "EngineError";
  // The constructors take other arguments than the fields, so they are not called.
  const error = Object.setPrototypeOf(new Error(message), CLASSES[known].prototype);
  return Object.assign(error, fields, { name: known }, stack !== undefined && { stack });
}

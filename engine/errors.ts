// The errors of the engine, one class for each kind that a caller can react to. Each message says
// what was attempted, then what is so. Kernels have their own (kernels/errors.ts).

import { type GpuError, ResourceError } from "../kernels/mod.ts";

/** The base of all engine errors, which distinguishes them from defects. */
export class EngineError extends Error {
  /** Name of the class. */
  override name: string = this.constructor.name;
}

/** A GGUF file does not match its header: bad magic, truncated, overflowing sizes or counts. */
export class GgufError extends EngineError {
  /**
   * The message names the file and the field.
   *
   * @param file path or URL of the file
   * @param field the header field or tensor at fault
   * @param state the fault, as words after a colon
   */
  constructor(readonly file: string, readonly field: string, state: string) {
    super(`Cannot read "${file}": ${field}: ${state}`);
  }
}

/** The file is valid, but needs something that this version does not support. */
export class UnsupportedModelError extends EngineError {}

/** There is no model of that name in the store, and no such file. */
export class ModelNotFoundError extends EngineError {
  /** The message is in the words of Ollama. @param model the requested name */
  constructor(readonly model: string) {
    super(`model '${model}' not found`);
  }
}

/** The prompt does not fit the context window. */
export class ContextLengthError extends EngineError {
  /** The message has both numbers, and says what can be done. */
  constructor(readonly promptTokens: number, readonly contextLength: number) {
    super(
      `the prompt is longer than the context length currently available to the model: ` +
        `it has ${promptTokens} tokens, the window ${contextLength}; ` +
        `shorten the prompt, adjust the context length in settings (num_ctx), or use a model with a longer context length`,
    );
  }
}

/** A request cannot be run as it is (an option out of range, a template that refuses it). */
export class RequestError extends EngineError {}

/** A structured answer of a session that is not valid, also after the model was told so. */
export class AnswerError extends EngineError {
  /**
   * The message has the problem.
   *
   * @param text the answer
   * @param problem what is wrong with it
   */
  constructor(readonly text: string, problem: string) {
    super(`Cannot take the answer: it does not fit its schema: ${problem}`);
  }
}

/** The model computed NaN or infinity. */
export class NotFiniteError extends EngineError {
  /**
   * The message names the value, and what makes values infinite.
   *
   * @param what the value that is not finite, such as "logits"
   */
  constructor(what: string) {
    super(
      `Cannot go on: the model's ${what} are not finite (NaN or infinite); ` +
        `its weights are damaged, or its activations overflow`,
    );
  }
}

/**
 * A tap or a tracer of a model's steps failed, and was removed. Other requests go on without it.
 */
export class TapError extends EngineError {
  /**
   * The message is that of the cause, after the part's name.
   *
   * @param what the part that failed, such as `the tap of "norm"`
   * @param cause what the part has thrown
   */
  constructor(what: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Cannot go on with ${what}: ${reason}`, { cause });
  }
}

/** The model or the GPU was closed while the request ran. */
export class ModelClosedError extends EngineError {}

/** A model ended by itself while nobody closed it. Loaded anew, it works again. */
export class ModelLostError extends ModelClosedError {}

/** The device of a model failed while it ran: it was lost, or had no memory, or refused a command. */
export class DeviceFailedError extends ModelLostError {
  /**
   * The message is that of the cause.
   *
   * @param cause what the device says
   */
  constructor(cause: GpuError) {
    super(cause.message, { cause });
  }
}

/** The worker or the process of a model ended by itself, for example because it was killed. */
export class ModelCrashedError extends ModelLostError {
  /** @param state how it ended: the text of an uncaught error, or of a process's end */
  constructor(state: string) {
    super(`Cannot go on: the model's worker crashed: ${state}`);
  }
}

/** A LoRA adapter that does not fit the model. */
export class AdapterError extends EngineError {
  /**
   * The message names the file and the fault.
   *
   * @param path path of the adapter
   * @param state the fault, as words after a colon
   */
  constructor(readonly path: string, state: string) {
    super(`Cannot apply adapter "${path}": ${state}`);
  }
}

/** A model does not fit into memory, even alone. */
export class InsufficientMemoryError extends EngineError {
  /**
   * The message says how much it needs, how much there is, and what can be done.
   *
   * @param model its name
   * @param need the memory that it needs, by part
   * @param bytes the memory that it needs, as one number
   * @param state how much memory there is
   */
  constructor(readonly model: string, need: string, readonly bytes: number, state: string) {
    super(
      `Cannot load "${model}": it needs ${need}, but ${state}; use a smaller num_ctx, a smaller ` +
        `quantization or model, or set QUERN_GPU_MEMORY if the GPU has more`,
    );
  }
}

/** The worker of a model does not answer, because it is running work without a pause. */
export class WorkerBusyError extends EngineError {
  /**
   * The message names the time and what follows.
   *
   * @param milliseconds how long it has not answered
   * @param ended settles when it answers again, or has ended
   * @param consequence what happens to it, if anything
   */
  constructor(
    readonly milliseconds: number,
    readonly ended: Promise<void>,
    consequence = "it keeps a core busy, and the model's memory, until what it is at is over",
  ) {
    super(
      `Cannot call off the work of the model's worker: it has not answered for ` +
        `${milliseconds / 1000} seconds; ${consequence}`,
    );
  }
}

/**
 * The error of a worker that ended by itself. One that could not read its modules, which are there, got
 * no open files from the system.
 *
 * @param attempt what it was to do, such as "Cannot load the model"
 * @param state how it ended: the text of an uncaught error
 */
export function crashOfWorker(attempt: string, state: string): Error {
  return /\bImport '.*' failed/.test(state)
    ? new ResourceError(`${attempt}: the system gives no more open files (ulimit -n)`)
    : new EngineError(`${attempt}: its worker crashed: ${state}`);
}

/** A file of a model's folder is missing, invalid, or has something that GGUF cannot express. */
export class ConversionError extends RequestError {
  /**
   * @param file path
   * @param field the key or tensor at fault
   * @param state the fault, as words after a colon
   */
  constructor(readonly file: string, readonly field: string, state: string) {
    super(`Cannot convert "${file}": ${field}: ${state}`);
  }
}

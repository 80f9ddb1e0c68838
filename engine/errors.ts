// The errors that the engine raises, one class per thing that a caller can react to.
// Each message says what was attempted, then what is so. Kernels have their own (kernels/errors.ts).

/** Base of all engine errors, so that a caller can tell them from defects. */
export class EngineError extends Error {
  /** Name of the class. */
  override name = "EngineError";
}

/** A GGUF file is not what its header says: bad magic, truncated, overflowing sizes or counts. */
export class GgufError extends EngineError {
  /** Name of the class. */
  override name = "GgufError";
  /**
   * Says where in which file.
   *
   * @param file path or URL of the file
   * @param field the header field or tensor at fault
   * @param state what is so
   */
  constructor(readonly file: string, readonly field: string, state: string) {
    super(`Cannot read "${file}": ${field}: ${state}`);
  }
}

/** The file is sound, but needs something that this version does not have. */
export class UnsupportedModelError extends EngineError {
  /** Name of the class. */
  override name = "UnsupportedModelError";
}

/** No model of that name in the store, and no such file. */
export class ModelNotFoundError extends EngineError {
  /** Name of the class. */
  override name = "ModelNotFoundError";
  /** Says the name in the words of Ollama. @param model the name that was asked for */
  constructor(readonly model: string) {
    super(`model '${model}' not found`);
  }
}

/** The prompt does not fit the context window. */
export class ContextLengthError extends EngineError {
  /** Name of the class. */
  override name = "ContextLengthError";
  /** Says both numbers, and what can be done. */
  constructor(readonly promptTokens: number, readonly contextLength: number) {
    super(
      `the prompt is longer than the context length currently available to the model: ` +
        `it has ${promptTokens} tokens, the window ${contextLength}; ` +
        `shorten the prompt, adjust the context length in settings (num_ctx), or use a model with a longer context length`,
    );
  }
}

/** A request cannot be run as it stands (an option out of range, a template that refuses it). */
export class RequestError extends EngineError {
  /** Name of the class. */
  override name = "RequestError";
}

/** What the model computed is no number: NaN, or infinite. */
export class NotFiniteError extends EngineError {
  /** Name of the class. */
  override name = "NotFiniteError";
  /** Says what is not finite, and why that may be. @param what such as "logits" */
  constructor(what: string) {
    super(
      `Cannot go on: the model's ${what} are not finite (NaN or infinite); ` +
        `its weights are damaged, or its activations overflow`,
    );
  }
}

/** A tap or a tracer of a model's steps failed, and was taken off; others go on without it. */
export class TapError extends EngineError {
  /** Name of the class. */
  override name = "TapError";
  /** Says what failed, and why. @param what such as `the tap of "norm"` */
  constructor(what: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Cannot go on with ${what}: ${reason}`, { cause });
  }
}

/** The model or the GPU was closed while the request ran. */
export class ModelClosedError extends EngineError {
  /** Name of the class. */
  override name = "ModelClosedError";
}

/** A LoRA adapter that does not fit the model. */
export class AdapterError extends EngineError {
  /** Name of the class. */
  override name = "AdapterError";
  /** Says the file and what is wrong with it. */
  constructor(readonly path: string, state: string) {
    super(`Cannot apply adapter "${path}": ${state}`);
  }
}

/** A model does not fit into the GPU's memory, even alone. */
export class InsufficientMemoryError extends EngineError {
  /** Name of the class. */
  override name = "InsufficientMemoryError";
  /**
   * Says what it takes, what there is, and what can be done.
   *
   * @param model its name
   * @param need what it takes, in parts
   * @param bytes the same in all
   * @param state how much there is
   */
  constructor(readonly model: string, need: string, readonly bytes: number, state: string) {
    super(
      `Cannot load "${model}": it needs ${need}, but ${state}; use a smaller num_ctx, a smaller ` +
        `quantization or model, or set QUERN_GPU_MEMORY if the GPU has more`,
    );
  }
}

/** The worker of a model does not answer: it is in the midst of work that has no pause. */
export class WorkerBusyError extends EngineError {
  /** Name of the class. */
  override name = "WorkerBusyError";
  /**
   * Says what that means.
   *
   * @param milliseconds how long it has had
   * @param ended settles when it answers again, or has ended after all
   * @param consequence what becomes of it
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

/** A file of the folder is missing, not sound, or says what no GGUF file can. */
export class ConversionError extends RequestError {
  /** Name of the class. */
  override name = "ConversionError";
  /**
   * Says where in which file.
   *
   * @param file path
   * @param field the key or tensor at fault
   * @param state what is so
   */
  constructor(readonly file: string, readonly field: string, state: string) {
    super(`Cannot convert "${file}": ${field}: ${state}`);
  }
}

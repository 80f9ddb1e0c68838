// The errors of pull and push: what a registry answered, or what kept a transfer from being completed.
// The messages are for users: what was attempted, colon, what is so, and what can be done.

/** The known facts of a failed exchange beside its message. */
export interface RegistryErrorOptions extends ErrorOptions {
  /** The HTTP status that the registry answered with. */
  status?: number;
  /** Whether the same request may well succeed later. Default false. */
  transient?: boolean;
  /** How long the registry asks to wait before the next attempt, in milliseconds. */
  retryAfter?: number;
  /** Whether no server was reached at all. Default false. */
  unreachable?: boolean;
}

/** A registry refused a request, or its answer was not what was asked for. */
export class RegistryError extends Error {
  /** Name of the class. */
  override name: string = this.constructor.name;
  /** The HTTP status that the registry answered with, if it did. */
  readonly status?: number;
  /** Whether the same request may well succeed later. */
  readonly transient: boolean;
  /** How long the registry asks to wait before the next attempt, in milliseconds. */
  readonly retryAfter?: number;
  /** Whether no server was reached at all. */
  readonly unreachable: boolean;

  /** @param message what was attempted, colon, what is so */
  constructor(message: string, options: RegistryErrorOptions = {}) {
    super(message, options);
    this.transient = options.transient ?? false;
    this.unreachable = options.unreachable ?? false;
    if (options.status !== undefined) this.status = options.status;
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter;
  }
}

/** A blob that arrived does not have the digest of its name. */
export class DigestMismatchError extends RegistryError {
  /** Says both digests. */
  constructor(readonly expected: string, readonly actual: string) {
    super(
      `Cannot pull blob ${expected}: digest mismatch, expected "${expected}", got "${actual}"; ` +
        `what was downloaded of it is deleted, pull the model again`,
    );
  }
}

/** The disk of the store has no room for what is to come. */
export class DiskFullError extends RegistryError {
  /** Says how much is needed and free, both in bytes. */
  constructor(
    readonly needed: number,
    readonly free: number,
    options?: ErrorOptions,
  ) {
    super(
      `Cannot pull the model: no space left on the disk of the models: ` +
        `${formatBytes(needed)} are needed (${needed} bytes), ` +
        `${
          formatBytes(free)
        } are free (${free} bytes); free some space, or set OLLAMA_MODELS to a ` +
        `folder on a larger disk, and pull again: what has been downloaded is kept`,
      options,
    );
  }
}

/** A size for people: decimal units with at most three digits, like "4.66 GB". */
function formatBytes(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  let value = bytes;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

// A file with what was found out about one device, under its identity, so that the next load begins with
// it. A file that is damaged, or another device's, is as if it were not there, and is told of.

import { fileSystem, isSystemError, join, sha256 } from "../../host/mod.ts";

/** What the contents of every such file begin with. */
export interface DeviceFileHead {
  /** Raised whenever the contents change their meaning. */
  readonly version: number;
  readonly identity: string;
}

/** The place of a file, and what it has. */
export interface DeviceFileOptions<Contents extends DeviceFileHead> {
  readonly folder: string;
  readonly identity: string;
  /** What comes after the digest of the identity in the file's name, such as ".json". */
  readonly ending: string;
  /** What it has, in the plural, for warnings: "the tuned kernels". */
  readonly what: string;
  /** The contents of a file that is not there. */
  readonly nothing: Contents;
  /** @throws {TypeError} with what is wrong with the contents, whose version and identity are right */
  readonly check: (contents: Record<string, unknown>) => Contents;
  /** Hears of files that are damaged or cannot be written. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** What was found out about a device, in its file. */
export class DeviceFile<Contents extends DeviceFileHead> {
  readonly #path: string;
  readonly #options: DeviceFileOptions<Contents>;

  constructor(options: DeviceFileOptions<Contents>) {
    const digest = sha256().update(options.identity).digest("hex").slice(0, 16);
    this.#path = join(options.folder, `${digest}${options.ending}`);
    this.#options = options;
  }

  async read(): Promise<Contents> {
    const { nothing, check } = this.#options;
    let text: string;
    try {
      text = await fileSystem().readTextFile(this.#path);
    } catch (error) {
      if (!isSystemError(error, "NotFound")) this.#tell("read", error);
      return structuredClone(nothing);
    }
    try {
      const contents = recordOf(JSON.parse(text));
      if (contents.version !== nothing.version) {
        throw new TypeError(`it is of version ${contents.version}`);
      }
      if (contents.identity !== nothing.identity) throw new TypeError("it is another device's");
      return check(contents);
    } catch (error) {
      this.#tell("use", error);
      return structuredClone(nothing);
    }
  }

  /** Changes the file, which other processes may change at the same time. */
  async change(change: (contents: Contents) => void): Promise<void> {
    const contents = await this.read();
    change(contents);
    const part = `${this.#path}.${crypto.randomUUID()}.part`;
    try {
      await fileSystem().mkdir(join(this.#path, ".."), { recursive: true });
      await fileSystem().writeTextFile(part, JSON.stringify(contents, null, 1) + "\n");
      await fileSystem().rename(part, this.#path);
    } catch (error) {
      await fileSystem().remove(part).catch(() => {});
      this.#tell("write", error);
    }
  }

  #tell(verb: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    const { what, warn } = this.#options;
    warn?.(`Cannot ${verb} ${what} in "${this.#path}": ${reason}; they are found anew`);
  }
}

/** The members of an object of JSON. Errors: TypeError. */
export function recordOf(value: unknown): Record<string, unknown> {
  if (typeof value === "object" && value !== null) return { ...value };
  throw new TypeError("it is damaged");
}

// Names of models, `[host/][namespace/]model[:tag]`, and where in the store they lie. The rules are
// Ollama's (types/model/name.go), but for `host/model`: a host has a dot or a colon, a namespace has
// neither, so that `localhost:5000/tiny` needs no namespace.

import { StoreError } from "./errors.ts";

const DEFAULTS = { host: "registry.ollama.ai", namespace: "library", tag: "latest" };

/** What host, namespace, model and tag may be. None can be a step up in a path. */
const RULES = [/^\w[\w.:-]{0,349}$/, /^\w[\w-]{0,79}$/, /^\w[\w.-]{0,79}$/, /^\w[\w.-]{0,79}$/];

/** How the colon before a port is written where no file name can have one. */
const COLON = Deno.build.os === "windows" ? "%3A" : ":";

/** The full name of a model. */
export class ModelName {
  private constructor(
    readonly host: string,
    readonly namespace: string,
    readonly model: string,
    readonly tag: string,
  ) {}

  /**
   * Takes a name apart and fills in what it leaves out. A scheme in front is dropped.
   *
   * @throws {StoreError} if it is none
   */
  static parse(text: string): ModelName {
    const name = ModelName.tryParse(text);
    if (!name) throw new StoreError("invalid model name");
    return name;
  }

  /** The same; undefined if it is no name. */
  static tryParse(text: string): ModelName | undefined {
    const [, path = "", tag = DEFAULTS.tag] = /^(?:https?:\/\/)?(.*?)(?::([^/:]*))?$/s.exec(text)!;
    const parts = path.split("/");
    if (parts.length === 1) parts.unshift(DEFAULTS.namespace);
    if (parts.length === 2) {
      if (/[.:]/.test(parts[0]!)) parts.splice(1, 0, DEFAULTS.namespace);
      else parts.unshift(DEFAULTS.host);
    }
    return ModelName.#of([...parts, tag]);
  }

  /** The name whose manifest has that path below the folder of manifests; undefined if none has. */
  static fromPath(path: string): ModelName | undefined {
    const [host = "", ...others] = path.split(/[\\/]/);
    return ModelName.#of([host.replace(COLON, ":"), ...others]);
  }

  /** Path of its manifest below the folder of manifests. */
  get path(): string {
    return [this.host.replace(":", COLON), this.namespace, this.model, this.tag].join("/");
  }

  /** The same for all spellings of a name: names differ by more than case. */
  get key(): string {
    return [this.host, this.namespace, this.model, this.tag].join("/").toLowerCase();
  }

  /** The shortest form, with its tag: `gemma3:latest`, `hf.co/user/repository:Q4_K_M`. */
  toString(): string {
    const { host, namespace, model, tag } = this;
    const isDefault = (part: "host" | "namespace") => this[part].toLowerCase() === DEFAULTS[part];
    if (!isDefault("host")) return `${host}/${namespace}/${model}:${tag}`;
    return isDefault("namespace") ? `${model}:${tag}` : `${namespace}/${model}:${tag}`;
  }

  static #of(parts: string[]): ModelName | undefined {
    const valid = parts.length === RULES.length && RULES.every((rule, i) => rule.test(parts[i]!));
    return valid ? new ModelName(parts[0]!, parts[1]!, parts[2]!, parts[3]!) : undefined;
  }
}

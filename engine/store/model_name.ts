// Names of models, `[host/][namespace/]model[:tag]`, and their paths in the store. The rules are
// Ollama's (types/model/name.go), except for `host/model`: a host has a dot or a colon, which a
// namespace cannot have, so `localhost:5000/tiny` needs no namespace. No part is longer than the name of
// a file may be.

import { operatingSystem } from "../../host/mod.ts";
import { StoreError } from "./errors.ts";

const DEFAULTS = { host: "registry.ollama.ai", namespace: "library", tag: "latest" };

/** Patterns of host, namespace, model and tag. None can be "..", which would leave the folder. */
const RULES = [/^\w[\w.:-]{0,252}$/, /^\w[\w-]{0,79}$/, /^\w[\w.-]{0,79}$/, /^\w[\w.-]{0,79}$/];

/** More characters than the parts of a name can have together. */
const MAX_CHARACTERS = 512;

/** The colon before a port; on Windows, file names cannot have one. */
function colon(): string {
  return operatingSystem() === "windows" ? "%3A" : ":";
}

/** The full name of a model. */
export class ModelName {
  private constructor(
    readonly host: string,
    readonly namespace: string,
    readonly model: string,
    readonly tag: string,
  ) {}

  /**
   * Parses a name and completes the parts that are missing. A scheme at the beginning is dropped.
   *
   * @throws {StoreError} if it is not a name
   */
  static parse(text: string): ModelName {
    const name = ModelName.tryParse(text);
    if (!name) throw new StoreError("invalid model name");
    return name;
  }

  /** Parses a name; undefined if it is not one. */
  static tryParse(text: string): ModelName | undefined {
    if (text.length > MAX_CHARACTERS) return undefined;
    const [, path = "", tag = DEFAULTS.tag] = /^(?:https?:\/\/)?(.*?)(?::([^/:]*))?$/s.exec(text)!;
    const parts = path.split("/");
    if (parts.length === 1) parts.unshift(DEFAULTS.namespace);
    if (parts.length === 2) {
      if (/[.:]/.test(parts[0]!)) parts.splice(1, 0, DEFAULTS.namespace);
      else parts.unshift(DEFAULTS.host);
    }
    return ModelName.#of([...parts, tag]);
  }

  /** The name whose manifest has this path in the folder of manifests; undefined if no name has. */
  static fromPath(path: string): ModelName | undefined {
    const [host = "", ...others] = path.split(/[\\/]/);
    return ModelName.#of([host.replace(colon(), ":"), ...others]);
  }

  /** Path of its manifest in the folder of manifests. */
  get path(): string {
    return [this.host.replace(":", colon()), this.namespace, this.model, this.tag].join("/");
  }

  /** A key that is the same for all spellings of a name, which may differ in case. */
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

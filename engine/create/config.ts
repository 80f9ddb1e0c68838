// The description of a model in its config blob: made from a file's header, changed by requests,
// and written as Ollama writes it, and the texts from which its members are read. The layout:
// types/model/config.go of the Ollama project.

import { RequestError } from "../errors.ts";
import { encodeDocument, type Layer, type ModelConfig } from "../store/mod.ts";

/** Members in the order of Go's structure. Others follow in their own order. */
const ORDER = [
  "model_format",
  "model_family",
  "model_families",
  "model_type",
  "file_type",
  "renderer",
  "parser",
  "requires",
  "remote_host",
  "remote_model",
  "capabilities",
  "context_length",
  "embedding_length",
  "base_name",
  "architecture",
  "os",
  "rootfs",
];

/** The keys of a request's `info`, with the member that each sets and its kind. */
const SETTABLE: Readonly<Record<string, [member: string, kind: "text" | "count" | "texts"]>> = {
  model_family: ["model_family", "text"],
  base_name: ["base_name", "text"],
  quantization_level: ["file_type", "text"],
  parameter_size: ["model_type", "text"],
  context_length: ["context_length", "count"],
  embedding_length: ["embedding_length", "count"],
  capabilities: ["capabilities", "texts"],
};

const KINDS = {
  text: { name: "a string", test: (value: unknown) => typeof value === "string" },
  count: { name: "a non-negative integer", test: (value: unknown) => isCount(value) },
  texts: { name: "an array of strings", test: (value: unknown) => isTexts(value) },
};

/** The description of a model on another server. */
export function remoteConfig(host: string, model: string): ModelConfig {
  return {
    model_format: "",
    model_family: "",
    model_families: [],
    model_type: "",
    file_type: "",
    remote_host: host,
    remote_model: model,
    architecture: "amd64",
    os: "linux",
    rootfs: { type: "layers", diff_ids: [] },
  };
}

/**
 * The description with the values of a request. Unknown members are ignored.
 *
 * @throws {RequestError} if a value has the wrong type
 */
export function withInfo(config: ModelConfig, info: CreateInfo): ModelConfig {
  const changed = { ...config };
  for (const [name, value] of Object.entries(info)) {
    if (!Object.hasOwn(SETTABLE, name)) continue;
    const [member, kind] = SETTABLE[name]!;
    if (!KINDS[kind].test(value)) {
      throw new RequestError(`info field "${name}" must be ${KINDS[kind].name}`);
    }
    changed[member] = value;
    if (name === "model_family") changed.model_families = value ? [value as string] : [];
  }
  return changed;
}

type CreateInfo = Readonly<Record<string, unknown>>;

/** The bytes of the config blob of a model with these layers. */
export function encodeConfig(
  config: ModelConfig,
  layers: readonly Layer[],
): Uint8Array<ArrayBuffer> {
  const rootfs = { type: "layers", diff_ids: layers.map(({ digest }) => digest) };
  const full: Record<string, unknown> = { ...config, rootfs };
  const names = [...ORDER, ...Object.keys(full).filter((name) => !ORDER.includes(name))];
  // JSON omits undefined members.
  return encodeDocument(Object.fromEntries(names.map((name) => [name, full[name]])));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

const NUMBER = "(?:0|[1-9]\\d*)";
const LABELS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const VERSION = new RegExp(
  `^v?(${NUMBER}(?:\\.${NUMBER}(?:\\.${NUMBER}(?:-${LABELS})?(?:\\+${LABELS})?)?)?)$`,
);

/**
 * The minimum version of Ollama for a model: a semantic version (semver.org), without a leading "v".
 *
 * @throws {RequestError} if it is not a version
 */
export function readVersion(text: string): string {
  const version = VERSION.exec(text.trim())?.[1];
  if (version) return version;
  throw new RequestError(`requires must be a valid semver (e.g. 0.14.0), not "${text}"`);
}

/** Default port of a server that runs a model instead of this one. */
const PORT = "11434";

/**
 * The full address of a server that runs a model instead of this one: `host` becomes `http://host:11434`. A path is kept, without a slash at its end.
 *
 * @throws {RequestError} if it is not an address
 */
export function readRemoteHost(text: string): string {
  const isPath = text.startsWith("/");
  const full = isPath ? `http://localhost:${PORT}${text}` : text;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(full) ? full : `http://${full}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "" || url.username !== "") {
    throw new RequestError(`bad remote: "${text}" is no address of a server`);
  }
  const hasScheme = full !== text || /^https?:/i.test(text);
  if (url.port === "" && !hasScheme) url.port = PORT;
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

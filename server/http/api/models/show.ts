// POST /api/show: all that is known of a model, and the Modelfile that would make it again.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import { Hono } from "../../../dependencies.ts";
import {
  type CacheTypes,
  type FileHeader,
  formatModelfile,
  formatParameters,
  MEDIA,
  readHeader,
  type StoreEntry,
} from "../../../../engine/mod.ts";
import { filled } from "../../../given.ts";
import type { AppDependencies, AppEnvironment } from "../../app_types.ts";
import { readJson } from "../../body/json_body.ts";
import { createValidator } from "../../body/validate.ts";
import { longJson } from "../../stream/json.ts";
import { templateOf } from "../defaults.ts";
import { requireModelName } from "../model_name.ts";
import type { OllamaShow } from "./answer_schema.ts";
import { capabilitiesOf, toDetails, toolsOf } from "./lists.ts";
import { type ShowBody, showSchema } from "./schema.ts";

/** Headers of the files of a model that are shown. */
export interface ShownHeaders {
  model?: FileHeader;
  projector?: FileHeader;
  draft?: FileHeader;
}

const CHAT_TEMPLATE = "tokenizer.chat_template";
/** Metadata that the rest of the answer has already. */
const LEFT_OUT = ["general.name", CHAT_TEMPLATE];

/** The answer. Members that would be empty are left out. */
function toShow(
  shown: StoreEntry,
  headers: ShownHeaders,
  body: ShowBody,
  { keys, values }: CacheTypes,
  files: ShownFiles,
): OllamaShow {
  const entry = overridden(shown, body);
  const { defaults, info, source } = entry;
  const { license, system, renderer, parser, requires, messages, parameters } = defaults;
  const own = headers.model?.metadata[CHAT_TEMPLATE];
  const applied = templateOf(entry);
  const template = applied ?? (typeof own === "string" ? own : defaults.template);
  const parent = entry.manifest?.layers.find(({ mediaType }) => mediaType === MEDIA.model)?.from;
  return {
    ...filled({ license: license.join("\n") }),
    modelfile: formatModelfile(entry),
    ...filled({ parameters: formatParameters(parameters), template, system, renderer, parser }),
    details: { ...toDetails(entry), parent_model: parent ?? "" },
    ...(applied !== undefined && { template_language: "go" as const }),
    ...(messages.length > 0 && { messages: [...messages] }),
    ...(source.kind === "remote" && { remote_model: source.model, remote_host: source.host }),
    ...(headers.model && { model_info: toInfo(headers.model) }),
    ...(headers.projector && { projector_info: toInfo(headers.projector) }),
    ...(headers.draft && { draft_info: toInfo(headers.draft) }),
    ...(headers.model && { tensors: headers.model.tensors }),
    capabilities: capabilitiesOf(info),
    ...toolsOf(info),
    ...(headers.model && { kv_cache_type: keys === values ? keys : `${keys}/${values}` }),
    modified_at: entry.modified.toISOString(),
    ...filled({ requires }),
    ...(files.length > 0 && { files }),
  };
}

function overridden(entry: StoreEntry, { system, options }: ShowBody): StoreEntry {
  const { defaults } = entry;
  const given = Object.entries(options ?? {}).filter(([, value]) => value != null);
  return {
    ...entry,
    defaults: {
      ...defaults,
      ...(system && { system }),
      parameters: { ...defaults.parameters, ...Object.fromEntries(given) },
    },
  };
}

function toInfo({ metadata, parameterCount }: FileHeader): Record<string, unknown> {
  const shown = Object.entries(metadata).filter(([key]) => !LEFT_OUT.includes(key));
  return { ...Object.fromEntries(shown), "general.parameter_count": parameterCount };
}

/** Arrays with more elements are shown only on request. */
const LONGEST_ARRAY = 5;

const validate = createValidator(showSchema);

const F16: CacheTypes = { keys: "f16", values: "f16" };

/** The route that shows a model. */
export function showRoutes({ store, cacheTypes = F16 }: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.post("/api/show", async (context) => {
    const body = await validate(await readJson(context));
    const name = requireModelName(body.model || body.name);
    context.set("model", name);
    const entry = await store.find(name);
    const headers = await readHeaders(entry, body.verbose ?? false);
    const files = await listFiles(store, entry);
    return longJson<OllamaShow>(toShow(entry, headers, body, cacheTypes, files));
  });
  return app;
}

type ShownFiles = NonNullable<OllamaShow["files"]>;

/** The files of a model; none if it is on another server, or was not brought into the store. */
async function listFiles(
  store: AppDependencies["store"],
  { source, defaults: { controlVectors = [] } }: StoreEntry,
): Promise<ShownFiles> {
  if (source.kind === "remote") return [];
  const { path, projector, draft, adapters } = source;
  const paths: [ShownFiles[number]["kind"], string | undefined][] = [
    ["model", path],
    ["projector", projector],
    ["draft", draft],
    ...adapters.map((path) => ["adapter", path] as ["adapter", string]),
    ...controlVectors.map(({ path }) => ["control_vector", path] as ["control_vector", string]),
  ];
  const files: ShownFiles = [];
  for (const [kind, path] of paths) {
    if (path === undefined) continue;
    const digest = await store.digestOfFile(path);
    if (digest === undefined) return [];
    files.push({ kind, digest, size: (await Deno.stat(path)).size });
  }
  return files;
}

async function readHeaders({ source }: StoreEntry, isVerbose: boolean): Promise<ShownHeaders> {
  if (source.kind === "remote") return {};
  const options = { longestArray: isVerbose ? Infinity : LONGEST_ARRAY };
  return {
    model: await readHeader(source.path, options),
    ...(source.projector && { projector: await readHeader(source.projector, options) }),
    ...(source.draft && { draft: await readHeader(source.draft, options) }),
  };
}

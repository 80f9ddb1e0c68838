// POST /api/show: all that is known of a model, and the Modelfile that would make it again. Pure.
// Format: https://github.com/ollama/ollama/blob/main/docs/api.md

import {
  type FileHeader,
  formatModelfile,
  formatParameters,
  MEDIA,
  type StoreEntry,
} from "../../../../engine/mod.ts";
import { templateOf } from "../defaults.ts";
import { capabilitiesOf, toDetails } from "./lists.ts";
import type { ShowBody } from "./schema.ts";
import type { OllamaShow } from "./types.ts";

/** Headers of the files of a model that are shown. */
export interface ShownHeaders {
  model?: FileHeader;
  projector?: FileHeader;
}

const CHAT_TEMPLATE = "tokenizer.chat_template";
/** What a header repeats of the rest of the answer. */
const LEFT_OUT = ["general.name", CHAT_TEMPLATE];

/** The answer; what a model does not have is left out. */
export function toShow(shown: StoreEntry, headers: ShownHeaders, body: ShowBody): OllamaShow {
  const entry = overridden(shown, body);
  const { defaults, info, source } = entry;
  const { license, system, renderer, parser, requires, messages, parameters } = defaults;
  const own = headers.model?.metadata[CHAT_TEMPLATE];
  const template = templateOf(entry) ?? (typeof own === "string" ? own : defaults.template);
  const parent = entry.manifest?.layers.find(({ mediaType }) => mediaType === MEDIA.model)?.from;
  return {
    ...given({ license: license.join("\n") }),
    modelfile: formatModelfile(entry),
    ...given({ parameters: formatParameters(parameters), template, system, renderer, parser }),
    details: { ...toDetails(entry), parent_model: parent ?? "" },
    ...(messages.length > 0 && { messages: [...messages] }),
    ...(source.kind === "remote" && { remote_model: source.model, remote_host: source.host }),
    ...(headers.model && { model_info: toInfo(headers.model) }),
    ...(headers.projector && { projector_info: toInfo(headers.projector) }),
    ...(headers.model && { tensors: headers.model.tensors }),
    capabilities: capabilitiesOf(info),
    modified_at: entry.modified.toISOString(),
    ...given({ requires }),
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

/** The members that are texts with something in them. */
function given<Name extends string>(
  members: Record<Name, string | undefined>,
): { [Key in Name]?: string } {
  return Object.fromEntries(
    Object.entries<string | undefined>(members).filter(([, text]) => text),
  ) as { [Key in Name]?: string };
}

// The options of a request that people may set, as the server describes them: what each does, and what
// holds without it.

import { signal } from "@preact/signals";
import { ask } from "../api/client.ts";

/** An option of `options` in a request. */
export interface OptionField {
  name: string;
  label: string;
  hint: string;
  /** What holds where neither the request nor the model says anything. */
  standard: string;
  min?: number;
  max?: number;
  step?: number;
  isList: boolean;
}

/** What is read of the schema of an option in /openapi.json. */
interface OptionSchema {
  type: string[];
  title?: string;
  "x-form"?: { help: string; standard: string; minimum?: number; maximum?: number };
}

interface Described {
  components: {
    schemas: {
      ChatRequest: { properties: { options: { properties: Record<string, OptionSchema> } } };
    };
  };
}

/** The options; empty until the server has told them. */
export const optionFields = signal<readonly OptionField[]>([]);

/** Asks the server for the options, unless they are known. */
export async function loadOptionFields(): Promise<void> {
  if (optionFields.value.length > 0) return;
  const { components } = await ask<Described>("/openapi.json");
  const { properties } = components.schemas.ChatRequest.properties.options;
  optionFields.value = Object.entries(properties).flatMap(([name, schema]) => {
    const { type, title, "x-form": form } = schema;
    if (title === undefined || form === undefined) return [];
    const { help, standard, minimum: min, maximum: max } = form;
    return [{
      name,
      label: title,
      hint: help,
      standard,
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      step: type.includes("integer") ? 1 : max === 1 ? 0.01 : 0.05,
      isList: type.includes("array"),
    }];
  });
}

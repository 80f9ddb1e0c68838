// What a conversation asks of the model: system prompt, thinking, tools, format and options.

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { chosenModel, show } from "../api/models.ts";
import { text } from "../strings.ts";
import { Field, IconButton, Notice } from "../ui/controls.tsx";
import { current, update } from "./store.ts";
import { type ChatSettings, NO_SETTINGS } from "./tree.ts";

/** Whether the settings are shown. */
export const areSettingsOpen = signal(false);

const SAMPLE_TOOLS = JSON.stringify(
  [{
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather of a city",
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
      },
    },
  }],
  null,
  2,
);

export function SettingsPanel() {
  const { settings } = current.value;
  const { capabilities = [] } = chosenModel.value ?? {};
  const set = (change: Partial<ChatSettings>) =>
    update({ ...current.value, settings: { ...settings, ...change } });
  return (
    <aside class="panel" aria-label={text.settings.title}>
      <header class="panel-head">
        <h2>{text.settings.title}</h2>
        <button type="button" class="quiet" onClick={() => set(NO_SETTINGS)}>
          {text.settings.reset}
        </button>
        <IconButton
          icon="close"
          label={text.common.close}
          onClick={() => areSettingsOpen.value = false}
        />
      </header>
      <Field label={text.settings.system} hint={text.settings.systemHint}>
        <textarea
          rows={4}
          value={settings.system}
          onInput={(event) => set({ system: event.currentTarget.value })}
        />
      </Field>
      {capabilities.includes("thinking") && (
        <Field label={text.settings.think} hint={text.settings.thinkHint}>
          <select
            value={settings.think}
            onChange={(event) =>
              set({ think: event.currentTarget.value })}
          >
            {Object.entries(text.settings.thinkOptions).map(([value, name]) => (
              <option key={value} value={value}>{name}</option>
            ))}
          </select>
        </Field>
      )}
      {capabilities.includes("tools") && (
        <>
          <JsonField
            label={text.settings.tools}
            hint={text.settings.toolsHint}
            value={settings.tools}
            onChange={(tools) => set({ tools })}
          />
          {!settings.tools && (
            <button
              type="button"
              class="quiet"
              onClick={() => set({ tools: SAMPLE_TOOLS })}
            >
              {text.settings.toolsSample}
            </button>
          )}
        </>
      )}
      <JsonField
        label={text.settings.format}
        hint={text.settings.formatHint}
        value={settings.format}
        onChange={(format) => set({ format })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={settings.logprobs}
          onChange={(event) => set({ logprobs: event.currentTarget.checked })}
        />
        <span>
          {text.settings.logprobs}
          <span class="field-hint">{text.settings.logprobsHint}</span>
        </span>
      </label>
      <Options settings={settings} set={set} />
    </aside>
  );
}

function JsonField({ label, hint, value, onChange }: {
  label: string;
  hint: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const fault = faultOf(value);
  return (
    <>
      <Field label={label} hint={hint}>
        <textarea
          class="mono"
          rows={value ? 8 : 2}
          value={value}
          spellcheck={false}
          aria-invalid={fault !== ""}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </Field>
      {fault && <Notice kind="error">{text.settings.badJson(fault)}</Notice>}
    </>
  );
}

function faultOf(value: string): string {
  if (value.trim() === "" || value.trim() === "json") return "";
  try {
    JSON.parse(value);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

function Options({ settings: { options }, set }: {
  settings: ChatSettings;
  set: (change: Partial<ChatSettings>) => void;
}) {
  const own = useOwnDefaults();
  useEffect(() => void loadOptionFields().catch(() => {}), []);
  const change = (name: string, value: number | string[] | undefined) => {
    const { [name]: _, ...others } = options;
    set({ options: value === undefined ? others : { ...others, [name]: value } });
  };
  return (
    <fieldset class="options">
      <legend>{text.settings.options}</legend>
      {optionFields.value.map((field) => (
        <Field
          key={field.name}
          label={field.label}
          hint={`${field.hint} ${text.settings.default(own[field.name] ?? field.standard)}.`}
        >
          <OptionInput
            field={field}
            value={options[field.name]}
            onChange={(value) => change(field.name, value)}
          />
        </Field>
      ))}
    </fieldset>
  );
}

function OptionInput({ field, value, onChange }: {
  field: OptionField;
  value: number | string[] | undefined;
  onChange: (value: number | string[] | undefined) => void;
}) {
  if (field.isList) {
    return (
      <textarea
        rows={2}
        value={Array.isArray(value) ? value.join("\n") : ""}
        onInput={(event) => {
          const lines = event.currentTarget.value.split("\n").filter(Boolean);
          onChange(lines.length > 0 ? lines : undefined);
        }}
      />
    );
  }
  const { min, max, step } = field;
  return (
    <input
      type="number"
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      step={step ?? "any"}
      placeholder={field.standard}
      value={typeof value === "number" ? value : ""}
      onInput={(event) => {
        const { value: given } = event.currentTarget;
        onChange(given === "" ? undefined : Number(given));
      }}
    />
  );
}

/** What the model itself says of options: lines of names and values. */
function useOwnDefaults(): Record<string, string> {
  const model = chosenModel.value;
  const [own, setOwn] = useState<Record<string, string>>({});
  useEffect(() => {
    let isHere = true;
    if (model) {
      show(model).then(({ parameters = "" }) => {
        const lines = parameters.split("\n").map((line) => line.trim().split(/\s+(.*)/));
        if (isHere) setOwn(Object.fromEntries(lines.map(([name, value]) => [name, value ?? ""])));
      }).catch(() => {});
    }
    return () => void (isHere = false);
  }, [model?.name]);
  return own;
}

/** An option of `options` in a request. */
interface OptionField {
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
const optionFields = signal<readonly OptionField[]>([]);

/** Asks the server for the options, unless they are known. */
async function loadOptionFields(): Promise<void> {
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

// The schema workbench: a format on one side, the answer growing on the other, and at each token what
// the format allowed there.

import { useEffect, useRef, useState } from "preact/hooks";
import { isAbort, messageOf, stream } from "../api/client.ts";
import { parseExact, writeExact } from "../api/exact_json.ts";
import { chosenModel, refreshLoaded } from "../api/models.ts";
import type { AnswerRecord, TokenLogprob } from "../api/types.ts";
import { ModelPicker } from "../chat/model_picker.tsx";
import { Code } from "../markdown/code.tsx";
import { text } from "../strings.ts";
import { TokenStrip } from "../tokens/token_strip.tsx";
import { CopyButton, Field, Notice, Segments, ViewHead } from "../ui/controls.tsx";
import { formatCount } from "../ui/format.ts";
import { MaskDetails } from "./mask_details.tsx";
import { type Span, spansOfRules } from "./pointers.ts";
import { type FormatKind, type Sample, SAMPLES } from "./samples.ts";

const KINDS = [
  ["schema", text.schema.kinds.schema],
  ["pattern", text.schema.kinds.pattern],
  ["grammar", text.schema.kinds.grammar],
] as const;

export function SchemaView() {
  const [{ kind, format, prompt }, setInput] = useState<Omit<Sample, "name">>(SAMPLES[0]!);
  const run = useRun();
  const { tokens, chosen, isRunning, isWhole, fault } = run;
  const [isAnswerJson, setAnswerJson] = useState(true);
  const set = (change: Partial<Omit<Sample, "name">>) =>
    setInput({ kind, format, prompt, ...change });
  const shown = chosen ?? tokens.length - 1;
  const schemaFault = kind === "schema" ? faultOf(format) : "";
  // What the server told is about the format that it was given.
  const mask = run.format === format ? tokens[shown]?.mask : undefined;
  const { pointers = [], spans = [] } = mask ?? {};
  const refused = /at (\/\S*|its root)[ :]/.exec(fault)?.[1];
  return (
    <div class="view">
      <div class="view-inner">
        <ViewHead title={text.schema.title} lead={text.schema.lead}>
          <ModelPicker />
        </ViewHead>
        <div class="workbench">
          <section class="card stack" aria-label={text.schema.input}>
            <div class="row">
              <Segments
                label={text.schema.kind}
                value={kind}
                options={KINDS}
                onChange={(name: FormatKind) => set({ kind: name })}
              />
              <span class="spring" />
              <select
                class="samples"
                aria-label={text.common.sample}
                value=""
                onChange={(event) => {
                  const sample = SAMPLES[Number(event.currentTarget.value)];
                  if (sample) set(sample);
                  run.clear();
                }}
              >
                <option value="">{text.common.sample}</option>
                {SAMPLES.map(({ name }, index) => <option key={name} value={index}>{name}</option>)}
              </select>
            </div>
            <FormatEditor
              value={format}
              label={text.schema.kinds[kind]}
              marked={kind !== "schema" ? spans : spansOfRules(
                format,
                refused !== undefined ? [refused === "its root" ? "" : refused] : pointers,
              )}
              isBad={refused !== undefined || schemaFault !== ""}
              onChange={(value) => set({ format: value })}
            />
            {schemaFault && <Notice kind="error">{text.settings.badJson(schemaFault)}</Notice>}
            <Field label={text.schema.prompt}>
              <textarea
                rows={2}
                value={prompt}
                onInput={(event) => set({ prompt: event.currentTarget.value })}
              />
            </Field>
            <div class="row">
              {isRunning
                ? <button type="button" class="quiet" onClick={run.stop}>{text.common.stop}</button>
                : (
                  <button
                    type="button"
                    class="primary"
                    disabled={!chosenModel.value || schemaFault !== ""}
                    onClick={() => {
                      setAnswerJson(kind === "schema");
                      void run.start(kind, format, prompt);
                    }}
                  >
                    {text.schema.run}
                  </button>
                )}
            </div>
          </section>
          <section class="card stack" aria-label={text.schema.answer}>
            {fault && (
              <Notice kind="error">
                {refused !== undefined && (
                  <strong class="block">{text.schema.refused(refused)}</strong>
                )}
                {fault}
              </Notice>
            )}
            {tokens.length === 0 && !fault && (
              <p class="aside">{isRunning ? text.common.loading : text.schema.empty}</p>
            )}
            {tokens.length > 0 && (
              <>
                <TokenStrip
                  tokens={tokens}
                  chosen={shown}
                  onChoose={run.choose}
                  colour="mask"
                  label={text.schema.answer}
                />
                <p class="aside">{text.schema.legend}</p>
                {tokens[shown] && (
                  <MaskDetails
                    token={tokens[shown]}
                    rules={kind === "schema"
                      ? pointers.map((pointer) => pointer || "/")
                      : spans.map(([start, end]) => format.slice(start, end))}
                  />
                )}
                {isWhole && <WholeAnswer tokens={tokens} isJson={isAnswerJson} />}
              </>
            )}
          </section>
        </div>
      </div>
    </div>
  );
}

function faultOf(format: string): string {
  try {
    JSON.parse(format);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** An answer under a format, and which of its tokens is looked at. */
function useRun() {
  const [tokens, setTokens] = useState<TokenLogprob[]>([]);
  const [asked, setAsked] = useState("");
  const [chosen, choose] = useState<number>();
  const [isRunning, setRunning] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const [fault, setFault] = useState("");
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const clear = () => {
    abort.current?.abort();
    setTokens([]);
    choose(undefined);
    setWhole(false);
    setFault("");
  };
  const start = async (kind: FormatKind, format: string, prompt: string) => {
    clear();
    setAsked(format);
    setRunning(true);
    const { signal } = abort.current = new AbortController();
    const formatted = kind === "schema" ? { format: parseExact(format) } : { [kind]: format };
    const body = {
      model: chosenModel.value!.name,
      messages: [{ role: "user", content: prompt }],
      think: chosenModel.value!.capabilities.includes("thinking") ? false : undefined,
      options: { temperature: 0, num_predict: 400 },
      mask_info: true,
      top_logprobs: 6,
      ...formatted,
    };
    try {
      for await (const record of stream<AnswerRecord>("/api/chat", { body, signal })) {
        const told = record.logprobs ?? [];
        if (told.length > 0) setTokens((before) => [...before, ...told]);
        if (record.done) setWhole(record.done_reason === "stop");
      }
    } catch (error) {
      if (!isAbort(error)) setFault(messageOf(error));
    }
    setRunning(false);
    void refreshLoaded();
  };
  return {
    tokens,
    format: asked,
    chosen,
    choose,
    isRunning,
    isWhole,
    fault,
    clear,
    start,
    stop: () => abort.current?.abort(),
  };
}

/** The field. `marked` are spans of its text, in order. */
function FormatEditor({ value, label, marked, isBad, onChange }: {
  value: string;
  label: string;
  marked: readonly Span[];
  isBad: boolean;
  onChange: (value: string) => void;
}) {
  const back = useRef<HTMLPreElement>(null);
  const parts: preact.ComponentChild[] = [];
  let at = 0;
  for (const [start, end] of marked) {
    if (start < at) continue;
    parts.push(value.slice(at, start), ...markLines(value.slice(start, end), start));
    at = end;
  }
  parts.push(value.slice(at), "\n");
  return (
    <div class={`format-editor ${isBad ? "bad" : ""}`}>
      <pre ref={back} aria-hidden="true">{parts}</pre>
      <textarea
        class="mono"
        aria-label={label}
        spellcheck={false}
        autocapitalize="off"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
        onScroll={(event) => {
          back.current!.scrollTop = event.currentTarget.scrollTop;
          back.current!.scrollLeft = event.currentTarget.scrollLeft;
        }}
      />
    </div>
  );
}

/** Marks on each line of a text, without the space before it. */
function markLines(text: string, start: number): preact.ComponentChild[] {
  return text.split(/(\n[ \t]*)/).map((part, index) =>
    index % 2 === 1 || part === "" ? part : <mark key={`${start}-${index}`}>{part}</mark>
  );
}

/** An answer that came to its end; JSON is laid out in lines. */
function WholeAnswer({ tokens, isJson }: {
  tokens: readonly TokenLogprob[];
  isJson: boolean;
}) {
  const written = tokens.map(({ token }) => token).join("");
  const laidOut = isJson ? layOut(written) : undefined;
  const forced = tokens.filter(({ mask }) => mask?.forced || mask?.allowed === 1).length;
  return (
    <figure class="code whole-answer">
      <figcaption>
        <span>
          <span class="badge on">
            {laidOut !== undefined ? text.schema.isJson : text.schema.fits}
          </span>
          {text.schema.counts(formatCount(tokens.length), formatCount(forced))}
        </span>
        <CopyButton value={() => written} />
      </figcaption>
      <pre tabIndex={0} aria-label={text.schema.whole}>
        <Code code={laidOut ?? written} language={isJson ? "json" : ""} />
      </pre>
    </figure>
  );
}

/** JSON in lines of its own; undefined for what is none. */
function layOut(source: string): string | undefined {
  try {
    return writeExact(parseExact(source), 2);
  } catch {
    return undefined;
  }
}

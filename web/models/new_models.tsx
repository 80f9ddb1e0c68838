// How models come: pulled from a registry, with the progress of each layer, or made from a Modelfile.

import { useRef, useState } from "preact/hooks";
import { isAbort, messageOf, stream } from "../api/client.ts";
import { refreshModels } from "../api/models.ts";
import type { ProgressRecord } from "../api/types.ts";
import { tell } from "../shell/toasts.tsx";
import { text } from "../strings.ts";
import { Field, Notice, Progress } from "../ui/controls.tsx";
import { formatBytes } from "../ui/format.ts";

/** The forms. */
export function NewModels() {
  const [name, setName] = useState("");
  const work = useWork();
  return (
    <section class="card stack" aria-label={text.models.get}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const model = name.trim();
          const insecure = model.startsWith("http://");
          void work.start("/api/pull", { model, ...(insecure && { insecure }) }, model);
        }}
      >
        <Field label={text.models.get} hint={text.models.getHint}>
          <span class="row nowrap">
            <input
              type="text"
              value={name}
              placeholder="gemma3:1b"
              autocapitalize="off"
              onInput={(event) => setName(event.currentTarget.value)}
            />
            {work.isRunning
              ? <button type="button" class="quiet" onClick={work.stop}>{text.common.stop}</button>
              : (
                <button type="submit" class="primary" disabled={!name.trim()}>
                  {text.models.pull}
                </button>
              )}
          </span>
        </Field>
      </form>
      {work.fault && <Notice kind="error">{work.fault}</Notice>}
      {work.state && <p class="aside" role="status">{work.state}</p>}
      <ul class="layers">
        {[...work.layers].map(([digest, { completed = 0, total = 0 }]) => (
          <li key={digest}>
            <code>{digest.replace("sha256:", "").slice(0, 12)}</code>
            <Progress label={digest} value={total > 0 ? completed / total : undefined} />
            <span>{formatBytes(completed)} / {formatBytes(total)}</span>
          </li>
        ))}
      </ul>
      <CreateForm start={work.start} isRunning={work.isRunning} />
    </section>
  );
}

function CreateForm({ start, isRunning }: {
  start: (path: string, body: object, name: string) => Promise<void>;
  isRunning: boolean;
}) {
  const [name, setName] = useState("");
  const [file, setFile] = useState("FROM quern:tiny\nSYSTEM Answer in one short sentence.\n");
  const [fault, setFault] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    try {
      setFault("");
      void start("/api/create", { model: name.trim(), ...readModelfile(file) }, name.trim());
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <details>
      <summary>{text.models.create}</summary>
      <form class="stack details" onSubmit={submit}>
        <Field label={text.models.createName}>
          <input
            type="text"
            value={name}
            required
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <Field label={text.models.createFile} hint={text.models.createHint}>
          <textarea
            class="mono"
            rows={6}
            value={file}
            spellcheck={false}
            onInput={(event) => setFile(event.currentTarget.value)}
          />
        </Field>
        {fault && <Notice kind="error">{fault}</Notice>}
        <div class="row">
          <button type="submit" class="primary" disabled={isRunning || !name.trim()}>
            {text.models.createRun}
          </button>
        </div>
      </form>
    </details>
  );
}

/** A pull or a creation under way. */
function useWork() {
  const [layers, setLayers] = useState(new Map<string, ProgressRecord>());
  const [state, setState] = useState("");
  const [fault, setFault] = useState("");
  const [isRunning, setRunning] = useState(false);
  const abort = useRef<AbortController | undefined>(undefined);
  const start = async (path: string, body: object, name: string) => {
    const { signal } = abort.current = new AbortController();
    setLayers(new Map());
    setFault("");
    setRunning(true);
    try {
      for await (const record of stream<ProgressRecord>(path, { body, signal })) {
        setState(record.status);
        const { digest } = record;
        if (digest) setLayers((before) => new Map(before).set(digest, record));
      }
      tell(text.models.done(name));
    } catch (error) {
      if (!isAbort(error)) setFault(messageOf(error));
    }
    setState("");
    setRunning(false);
    await refreshModels();
  };
  return { layers, state, fault, isRunning, start, stop: () => abort.current?.abort() };
}

// A Modelfile as the body of /api/create. Files of this machine (FROM ./x.gguf, ADAPTER) need the command
// line, which uploads them. Pure. Format: https://github.com/ollama/ollama/blob/main/docs/modelfile.md

/** @throws Error that names what cannot be read */
function readModelfile(source: string): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  const messages: { role: string; content: string }[] = [];
  const body: Record<string, unknown> = {};
  const pattern = /^[ \t]*(?:#.*|([A-Za-z]+)[ \t]+(?:"""([^]*?)"""|(.*)))?[ \t]*$/gm;
  for (const [line, name, block, rest] of source.matchAll(pattern)) {
    if (!name) {
      if (line.trim() && !line.trim().startsWith("#")) {
        throw new Error(`This is no instruction: ${line}`);
      }
      continue;
    }
    const value = block ?? unquoted((rest ?? "").trim());
    switch (name.toUpperCase()) {
      case "FROM":
        if (/^[./~]/.test(value)) {
          throw new Error("FROM names a file: use `quern create`, which uploads it");
        }
        body.from = value;
        break;
      case "SYSTEM":
      case "TEMPLATE":
      case "LICENSE":
        body[name.toLowerCase()] = value;
        break;
      case "PARAMETER": {
        const [, key = "", given = ""] = /^(\S+)\s+(.*)$/.exec(value) ?? [];
        const read = valueOf(unquoted(given));
        if (key === "stop") parameters.stop = [...parameters.stop as string[] ?? [], String(read)];
        else parameters[key] = read;
        break;
      }
      case "MESSAGE": {
        const [, role = "", content = ""] = /^(\S+)\s+(.*)$/.exec(value) ?? [];
        messages.push({ role, content: unquoted(content) });
        break;
      }
      default:
        throw new Error(`${name} is not known here: use ${KNOWN.join(", ")}`);
    }
  }
  if (!body.from) throw new Error("FROM is missing: it names the model to begin with");
  return {
    ...body,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(messages.length > 0 && { messages }),
  };
}

const KNOWN = ["FROM", "SYSTEM", "TEMPLATE", "PARAMETER", "MESSAGE", "LICENSE"];

function unquoted(value: string): string {
  return /^"[^]*"$/.test(value) ? value.slice(1, -1) : value;
}

function valueOf(value: string): unknown {
  if (value === "true" || value === "false") return value === "true";
  return value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
}

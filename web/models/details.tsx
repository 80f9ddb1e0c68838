// What is known of a model, unfolded: the memory that it would take, its template, its metadata.

import { useEffect, useState } from "preact/hooks";
import { ask, messageOf } from "../api/client.ts";
import { show } from "../api/models.ts";
import type { Model, ShownModel } from "../api/types.ts";
import { text } from "../strings.ts";
import { RunInTab } from "../tab/run_in_tab.tsx";
import { CopyButton, Field, Notice } from "../ui/controls.tsx";
import { formatBytes, formatCount } from "../ui/format.ts";

interface Plan {
  weights: number;
  kv_cache: number;
  scratch: number;
  context_length: number;
  is_shrunk: boolean;
  total?: number;
}

/** The details; asked for when they are unfolded. */
export function ModelDetails({ model }: { model: Model }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text.models.more}</summary>
      {isOpen && <Unfolded model={model} />}
    </details>
  );
}

function Unfolded({ model }: { model: Model }) {
  const [shown, setShown] = useState<ShownModel>();
  const [fault, setFault] = useState("");
  useEffect(() => {
    show(model).then(setShown, (error) => setFault(messageOf(error)));
  }, [model.digest]);
  return (
    <div class="stack details">
      <MemoryPlan model={model} />
      <RunInTab model={model} />
      {fault && <Notice kind="error">{fault}</Notice>}
      {shown && (
        <>
          <Source title={text.models.modelfile} source={shown.modelfile} />
          {shown.template && <Source title={text.models.template} source={shown.template} />}
          {shown.license && <Source title={text.models.license} source={shown.license} />}
          <details>
            <summary>{text.models.metadata}</summary>
            <dl class="facts-list">
              {Object.entries(shown.model_info ?? {}).map(([key, value]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>{typeof value === "object" ? JSON.stringify(value) : String(value)}</dd>
                </div>
              ))}
            </dl>
          </details>
        </>
      )}
    </div>
  );
}

function Source({ title, source }: { title: string; source: string }) {
  return (
    <details>
      <summary>{title}</summary>
      <figure class="code">
        <figcaption>
          <span>{title}</span>
          <CopyButton value={() => source} />
        </figcaption>
        <pre tabIndex={0}><code>{source}</code></pre>
      </figure>
    </details>
  );
}

/** What a load would take, as a bar of what there is. */
function MemoryPlan({ model }: { model: Model }) {
  const [window, setWindow] = useState("");
  const [plan, setPlan] = useState<Plan>();
  const [fault, setFault] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    const options = window ? { num_ctx: Number(window) } : {};
    const body = { model: model.name, options };
    const timer = setTimeout(() => {
      ask<Plan>("/api/plan", { body, signal: abort.signal }).then((found) => {
        setPlan(found);
        setFault("");
      }, (error) => abort.signal.aborted || setFault(messageOf(error)));
    }, 250);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [window, model.digest]);
  const used = plan ? plan.weights + plan.kv_cache + plan.scratch : 0;
  const total = Math.max(plan?.total ?? used, used);
  const parts = plan
    ? [
      ["weights", plan.weights],
      ["cache", plan.kv_cache],
      ["scratch", plan.scratch],
      ["free", total - used],
    ] as const
    : [];
  return (
    <section class="stack" aria-label={text.models.plan}>
      <div class="row">
        <h3>{text.models.plan}</h3>
        <span class="spring" />
        <Field label={text.models.windowOption} class="inline">
          <input
            type="number"
            min={1}
            step={1}
            placeholder={plan ? String(plan.context_length) : ""}
            value={window}
            onInput={(event) => setWindow(event.currentTarget.value)}
          />
        </Field>
      </div>
      {fault && <Notice>{fault}</Notice>}
      {plan && !fault && (
        <>
          <PlanBar parts={parts} total={total} />
          <ul class="plan-legend">
            {parts.map(([name, bytes]) => (
              <li key={name} class={name}>{text.models[name]} {formatBytes(bytes)}</li>
            ))}
          </ul>
          <p class="aside">
            {[
              plan.total !== undefined &&
              text.models.takes(formatBytes(used), formatBytes(plan.total)),
              text.models.window(formatCount(plan.context_length)),
              plan.is_shrunk && text.models.shrunk,
            ].filter(Boolean).join(" · ")}
          </p>
        </>
      )}
    </section>
  );
}

/** Drawn as SVG, whose sizes are attributes: the policy of the page allows no styles in elements. */
function PlanBar({ parts, total }: {
  parts: readonly (readonly [name: string, bytes: number])[];
  total: number;
}) {
  const label = text.models.planOf(
    parts.map(([name, bytes]) => `${name} ${formatBytes(bytes)}`).join(", "),
  );
  let start = 0;
  return (
    <svg
      class="plan-bar"
      viewBox="0 0 1000 12"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {parts.map(([name, bytes]) => {
        const width = 1000 * bytes / total;
        const x = start;
        start += width;
        return <rect key={name} class={name} x={x} width={width} height={12} />;
      })}
    </svg>
  );
}

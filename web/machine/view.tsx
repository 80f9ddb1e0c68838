// The machine: what it does right now, what the doctor finds of it, and what was asked of it lately.

import { useEffect, useState } from "preact/hooks";
import { ask, messageOf, send } from "../api/client.ts";
import { text } from "../strings.ts";
import { Notice, ViewHead } from "../ui/controls.tsx";
import { formatBytes, formatCount, formatSeconds } from "../ui/format.ts";
import { Cache, type CacheContents } from "./cache.tsx";

/** Between two looks, in milliseconds, and how many of them are shown. */
const PERIOD = 2000;
const MOST = 90;

interface Sample {
  at: number;
  metrics: Metrics;
}

interface Finding {
  mark: "ok" | "warning" | "problem";
  subject: string;
  text: string;
  todo?: { text: string; command?: string };
}

interface Section {
  title: string;
  findings: Finding[];
  table?: string[][];
}

interface PastRequest {
  at: string;
  path: string;
  status: number;
  model: string;
  seconds: number;
  first_token_seconds?: number;
  prompt_tokens?: number;
  cached_tokens?: number;
  completion_tokens?: number;
  tokens_per_second?: number;
}

type Line = [name: string, values: number[], format: (value: number) => string, limit?: number];

export function MachineView() {
  const [samples, setSamples] = useState<Sample[]>([]);
  const [requests, setRequests] = useState<PastRequest[]>([]);
  const [cache, setCache] = useState<CacheContents>({ models: [] });
  const [version, setVersion] = useState("");
  const [fault, setFault] = useState("");
  useEffect(() => {
    let isHere = true;
    const look = async () => {
      try {
        const [source, past, kept] = await Promise.all([
          send("/metrics", { headers: { accept: "text/plain" } }).then((one) => one.text()),
          ask<{ requests: PastRequest[] }>("/api/requests"),
          ask<CacheContents>("/api/cache"),
        ]);
        if (!isHere) return;
        const sample = { at: Date.now(), metrics: readMetrics(source) };
        setSamples((before) => [...before, sample].slice(-MOST - 1));
        setRequests(past.requests);
        setCache(kept);
        setFault("");
      } catch (error) {
        if (isHere) setFault(messageOf(error));
      }
    };
    void look();
    ask<{ quern_version: string }>("/api/version").then((one) => setVersion(one.quern_version))
      .catch(() => {});
    const timer = setInterval(() => void (!document.hidden && look()), PERIOD);
    return () => {
      isHere = false;
      clearInterval(timer);
    };
  }, []);
  const values = (name: string, label?: string) =>
    samples.slice(1).map(({ metrics }) => sumOf(metrics, name, label));
  const now = (name: string) => samples.length > 0 ? sumOf(samples.at(-1)!.metrics, name) : 0;
  const rates = (name: string) =>
    samples.slice(1).map(({ at, metrics }, index) => {
      const before = samples[index]!;
      const grown = sumOf(metrics, name) - sumOf(before.metrics, name);
      return Math.max(0, 1000 * grown / (at - before.at));
    });
  const decimal = (value: number) => value.toFixed(value < 10 ? 1 : 0);
  const charts: readonly Line[] = [
    [text.machine.rate, rates("quern_completion_tokens_total"), decimal],
    [text.machine.requests, rates("quern_time_to_first_token_seconds_count"), decimal],
    [text.machine.queue, values("quern_queue_length"), formatCount],
    [text.machine.memory, values("quern_gpu_memory_bytes"), formatBytes],
    [
      text.machine.slots,
      values("quern_slots", 'state="used"'),
      formatCount,
      now("quern_slots"),
    ],
    [
      text.machine.blocks,
      values("quern_kv_blocks", 'state="used"'),
      formatCount,
      now("quern_kv_blocks"),
    ],
    [
      text.machine.cached,
      values("quern_kv_blocks", 'state="cached"'),
      formatCount,
      now("quern_kv_blocks"),
    ],
  ];
  return (
    <div class="view">
      <div class="view-inner">
        <ViewHead title={text.machine.title} lead={text.machine.lead}>
          {version && <span class="badge">{text.machine.version(version)}</span>}
        </ViewHead>
        {fault && <Notice kind="error">{fault}</Notice>}
        <div class="charts">
          {charts.map(([name, line, format, limit]) => (
            <Chart key={name} name={name} values={line} most={MOST} format={format} limit={limit} />
          ))}
        </div>
        <Requests requests={requests} />
        <Cache {...cache} />
        <Doctor />
      </div>
    </div>
  );
}

function Requests({ requests }: { requests: readonly PastRequest[] }) {
  return (
    <section class="card" aria-label={text.machine.last}>
      <h2>{text.machine.last}</h2>
      {requests.length === 0 ? <p class="aside">{text.machine.none}</p> : (
        <div
          class="table-frame requests"
          tabIndex={0}
          role="region"
          aria-label={text.machine.last}
        >
          <table>
            <thead>
              <tr>
                {text.machine.columns.map((name) => <th key={name} scope="col">{name}</th>)}
              </tr>
            </thead>
            <tbody>
              {requests.slice(0, 20).map((one, index) => (
                <tr key={index}>
                  <td>{new Date(one.at).toLocaleTimeString("en-GB")}</td>
                  <td title={one.model}>{one.model}</td>
                  <td>{one.path}</td>
                  <td>
                    <span class={`badge ${one.status < 400 ? "on" : "bad"}`}>{one.status}</span>
                  </td>
                  <td>{formatSeconds(one.seconds)}</td>
                  <td>{one.first_token_seconds ? formatSeconds(one.first_token_seconds) : ""}</td>
                  <td>
                    {one.prompt_tokens !== undefined &&
                      formatCount(one.prompt_tokens) +
                        (one.cached_tokens ? ` (${formatCount(one.cached_tokens)})` : "")}
                  </td>
                  <td>{one.completion_tokens}</td>
                  <td>{one.tokens_per_second?.toFixed(1)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Doctor() {
  const [sections, setSections] = useState<Section[]>();
  const [fault, setFault] = useState("");
  const look = () => {
    setSections(undefined);
    ask<{ sections: Section[] }>("/api/doctor").then(
      (found) => setSections(found.sections),
      (error) => setFault(messageOf(error)),
    );
  };
  useEffect(look, []);
  return (
    <section class="card stack" aria-label={text.machine.doctor}>
      <div class="row">
        <h2>{text.machine.doctor}</h2>
        <span class="spring" />
        <button type="button" class="quiet" disabled={!sections && !fault} onClick={look}>
          {text.machine.look}
        </button>
      </div>
      {fault && <Notice kind="error">{fault}</Notice>}
      {!sections && !fault && <p class="aside" role="status">{text.machine.looking}</p>}
      {sections?.map(({ title, findings, table }) => (
        <section key={title} class="findings">
          <h3>{title}</h3>
          <ul>
            {findings.map((one, index) => (
              <li key={index} class={one.mark}>
                <span class={`badge ${{ ok: "on", warning: "warn", problem: "bad" }[one.mark]}`}>
                  {one.mark}
                </span>
                <span>
                  <strong>{one.subject}:</strong> {one.text}
                  {one.todo && <span class="field-hint">{one.todo.text}</span>}
                  {one.todo?.command && <code class="command">{one.todo.command}</code>}
                </span>
              </li>
            ))}
          </ul>
          {table && <Table rows={table} />}
        </section>
      ))}
    </section>
  );
}

/** Rows of a section, of which the first is the head. */
function Table({ rows: [head = [], ...rows] }: { rows: string[][] }) {
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label={head[0]}>
      <table>
        <thead>
          <tr>{head.map((name) => <th key={name} scope="col">{name}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>{cells.map((cell, index) => <td key={index}>{cell}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Points of the line. */
const WIDTH = 300;
const HEIGHT = 70;

/** A line of values, the newest on the right. */
function Chart({ name, values, most, format, limit }: {
  name: string;
  values: readonly number[];
  /** Points that fit. */
  most: number;
  format: (value: number) => string;
  /** Where the line would be at the top, such as all slots; else the largest value. */
  limit?: number | undefined;
}) {
  const top = limit ?? Math.max(...values, 1e-9);
  const points = values.map((value, index) => {
    const x = WIDTH * (index + most - values.length) / (most - 1);
    return `${x.toFixed(1)},${(HEIGHT - 2 - (HEIGHT - 8) * value / top).toFixed(1)}`;
  });
  const value = format(values.at(-1) ?? 0);
  const last = limit === undefined ? value : text.machine.of(value, format(limit));
  const start = points[0]?.split(",")[0] ?? 0;
  return (
    <figure class="card chart">
      <figcaption>
        <span>{name}</span>
        <strong>{last}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text.machine.chart(name, last)}
      >
        {points.length > 1 && (
          <>
            <polygon points={`${start},${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} />
            <polyline points={points.join(" ")} />
          </>
        )}
      </svg>
    </figure>
  );
}

/** A series by its name with its labels. */
type Metrics = ReadonlyMap<string, number>;

/** The series of a text. */
function readMetrics(source: string): Metrics {
  const metrics = new Map<string, number>();
  for (const line of source.split("\n")) {
    const match = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line);
    if (match) metrics.set(match[1]!, Number(match[2]));
  }
  return metrics;
}

/** The sum of all series of a name; with `label`, such as `state="used"`, of those that have it. */
function sumOf(metrics: Metrics, name: string, label = ""): number {
  let sum = 0;
  for (const [key, value] of metrics) {
    if (key === name || key.startsWith(`${name}{`) && key.includes(label)) sum += value;
  }
  return sum;
}

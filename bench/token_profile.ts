// `deno task bench:token [TYPE|FILE...] [--shape 135m] [--threads 2] [--prompt 16] [--tokens 64] [--runs 5]
// [--sequences 1] [--phases]`: where the time of a step goes that decodes on the CPU, a token of a sequence
// or one of each of several, of a model with random weights or of a file. All lines together are the time by
// the clock: a phase is from the end of the one before it to its own end, so it has the work of its kernels
// (the mean of the threads), the time in which some threads have nothing to do because another takes longer,
// and what is left, the signals between threads. The rest is JavaScript: between the submit of a step and its
// phases, and outside of submits. `--phases` also prints each kind of phase. Medians of runs.

import { parseArgs } from "node:util";
import type { Model } from "../engine/model/model.ts";
import { loadModel } from "../engine/model/mod.ts";
import { CpuDevice } from "../kernels/cpu/device.ts";
import type { PhaseTimes } from "../kernels/cpu/pool.ts";
import { load, median, percent, print } from "./report.ts";
import { SHAPES, writeSyntheticLlama } from "./synthetic_model.ts";
import { temporaryFolder } from "./temporary.ts";

/** What kernels do, by the beginnings of their names; the last one has all others. */
const KINDS: readonly (readonly [kind: string, names: RegExp])[] = [
  ["products", /^(float_)?product|^several|_pairs$/],
  ["attention", /^(attention|combine)/],
  ["norms, rotation, activation, int8", /^(norm|quantize|rotate|activate|gated)/],
  ["sampling", /^(penalize|bias|survey|count|cut|draw|choose)/],
  ["other kernels", /^/],
];
const UNEQUAL = "waiting for a thread that has more to do";
const SIGNALS = "signals between threads, beginning of phases";
const BUILDING = "JavaScript in submits: calls, their records";
const OUTSIDE = "JavaScript outside: scheduler, text, timers";

/** Microseconds of a step by part, and of its kinds of phases. */
interface Profile {
  whole: number;
  parts: Map<string, number>;
  phases: Map<string, { count: number; work: number; unequal: number; signals: number }>;
  /** Bytes that the heap grew by. */
  heap: number;
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: "string", default: "135m" },
    threads: { type: "string", default: "2" },
    prompt: { type: "string", default: "16" },
    tokens: { type: "string", default: "64" },
    sequences: { type: "string", default: "1" },
    runs: { type: "string", default: "5" },
    phases: { type: "boolean", default: false },
  },
});
const threads = Number(options.threads);
const tokens = Number(options.tokens);
const sequences = Number(options.sequences);

/** Sums of what was measured while it is on. */
class Meter {
  #isOn = false;
  #submits = 0;
  #steps = 0;
  /** What the measurement itself took, which is in no part. */
  #measuring = 0;
  readonly #parts = new Map<string, number>();
  readonly #phases: Profile["phases"] = new Map();

  constructor(readonly device: CpuDevice) {
    const submit = device.submit.bind(device);
    device.submit = (...commands) => {
      const started = performance.now();
      submit(...commands);
      if (this.#isOn) this.#submits += 1000 * (performance.now() - started);
    };
  }

  begin(): void {
    this.#isOn = true;
    this.#submits = this.#measuring = this.#steps = 0;
    this.#parts.clear();
    this.#phases.clear();
    this.device.timePhases((phases, ended) => {
      this.#steps++;
      this.#add(phases);
      this.#measuring += 1000 * (performance.now() - ended);
    });
  }

  /** The profile of a step, of which there were some in `all` microseconds. */
  end(all: number, heap: number): Profile {
    this.#isOn = false;
    const count = this.#steps;
    const whole = all - this.#measuring;
    const submits = this.#submits - this.#measuring;
    this.device.timePhases(undefined);
    const inPhases = this.#parts.values().reduce((sum, part) => sum + part, 0);
    this.#parts.set(BUILDING, submits - inPhases);
    this.#parts.set(OUTSIDE, whole - submits);
    const parts = new Map(this.#parts.entries().map(([name, part]) => [name, part / count]));
    const phases = new Map(
      this.#phases.entries().map(([name, sums]) => [
        name,
        {
          count: sums.count / count,
          work: sums.work / count,
          unequal: sums.unequal / count,
          signals: sums.signals / count,
        },
      ]),
    );
    return { whole: whole / count, parts, phases, heap: heap / count };
  }

  #add(phases: readonly PhaseTimes[]): void {
    for (const [index, { kernels, items, all, longest, whole }] of phases.entries()) {
      // A phase of one item has no other threads: all of them wait for it.
      const work = items === 1 ? longest : all / threads;
      const unequal = longest - work;
      let signals = whole - longest;
      for (const next of phases.slice(index + 1)) {
        if (next.whole > 0) break;
        signals -= next.longest;
      }
      if (whole === 0) signals = 0;
      const kind = KINDS.find(([, names]) => names.test(kernels[0] ?? ""))![0];
      this.#count(kind, work);
      this.#count(UNEQUAL, unequal);
      this.#count(SIGNALS, signals);
      const name = `${[...new Set(kernels)].join(", ")} (${items})`;
      const sums = this.#phases.get(name) ?? { count: 0, work: 0, unequal: 0, signals: 0 };
      sums.count++;
      sums.work += work;
      sums.unequal += unequal;
      sums.signals += signals;
      this.#phases.set(name, sums);
    }
  }

  #count(part: string, time: number): void {
    this.#parts.set(part, (this.#parts.get(part) ?? 0) + time);
  }
}

/**
 * Decodes answers at once; `begin` is called when all have a token, and `end` when one is over. Returns the
 * microseconds between, and the tokens of each in that time.
 */
async function decode(
  model: Model,
  run: number,
  begin = () => {},
  end = (_time: number) => {},
): Promise<{ time: number; each: number }> {
  let [began, last, waiting, received] = [0, 0, sequences, 0];
  const one = async (sequence: number) => {
    const prompt = Array.from(
      { length: Number(options.prompt) },
      (_, i) => 33 + (i * 7919 + run + 97 * sequence) % 90,
    );
    const request = {
      prompt,
      maxTokens: tokens + 1,
      temperature: 0,
      ignoreEnd: true,
      draftTokens: 0,
    };
    let isFirst = true;
    for await (const event of model.generate(request)) {
      if (event.type !== "text" && event.type !== "done") continue;
      const now = performance.now();
      if (began > 0 && last === 0 && event.type === "text") received += event.tokens.length;
      if (event.type === "done" && last === 0) {
        last = now;
        end(1000 * (last - began));
      }
      if (isFirst) waiting--;
      if (isFirst && waiting === 0) {
        begin();
        began = performance.now();
      }
      isFirst = false;
    }
  };
  await Promise.all(Array.from({ length: sequences }, (_, sequence) => one(sequence)));
  return { time: 1000 * (last - began), each: received / sequences };
}

async function report(name: string, path: string): Promise<void> {
  const open = CpuDevice.open;
  const opened: CpuDevice[] = [];
  CpuDevice.open = async (options) => {
    const device = await open.call(CpuDevice, options);
    opened.push(device);
    return device;
  };
  await using model = await loadModel(path, {
    contextLength: sequences * (Number(options.prompt) + tokens + 2),
    maxSequences: sequences,
    device: { kind: "cpu", threads },
  });
  CpuDevice.open = open;
  const meter = new Meter(opened[0]!);
  const profiles: Profile[] = [];
  const plain: number[] = [];
  for (let run = 0; run <= Number(options.runs); run++) {
    const untimed = await decode(model, 2 * run);
    let heap = 0;
    let profile: Profile | undefined;
    await decode(model, 2 * run + 1, () => {
      heap = Deno.memoryUsage().heapUsed;
      meter.begin();
    }, (time) => {
      profile = meter.end(time, Deno.memoryUsage().heapUsed - heap);
    });
    if (run === 0) continue; // V8 compiles what runs often.
    plain.push(untimed.time / untimed.each);
    profiles.push(profile!);
  }
  printProfile(name, profiles, median(plain));
}

function printProfile(name: string, profiles: readonly Profile[], plain: number): void {
  const ordered = profiles.toSorted((a, b) => a.whole - b.whole);
  const { whole, parts, phases, heap } = ordered[ordered.length >> 1]!;
  const speed = (1e6 * sequences / plain).toFixed(1);
  print(
    `${name}: ${whole.toFixed(0)} µs a step, ${plain.toFixed(0)} if it is not measured ` +
      `(${speed} tokens/s); heap ${(heap / 1024).toFixed(1)} KiB a step; load ${load()}`,
  );
  const names = [...KINDS.map(([kind]) => kind), UNEQUAL, SIGNALS, BUILDING, OUTSIDE];
  for (const part of names) {
    const time = parts.get(part) ?? 0;
    print(
      `  ${part.padEnd(46)} ${time.toFixed(0).padStart(7)} µs ${percent(time, whole).padStart(8)}`,
    );
  }
  if (!options.phases) return;
  print(`  ${"phases (items)".padEnd(46)}   count    work unequal signals`);
  for (const [phase, { count, work, unequal, signals }] of phases) {
    const cells = [count, work, unequal, signals].map((cell) => cell.toFixed(0).padStart(7));
    print(`  ${phase.padEnd(46)} ${cells.join(" ")}`);
  }
}

for (const name of positionals.length > 0 ? positionals : ["Q4_0", "Q8_0", "Q4_K", "F16"]) {
  if (name.endsWith(".gguf")) {
    await report(name, name);
    continue;
  }
  using folder = temporaryFolder();
  const path = `${folder.path}/model.gguf`;
  await writeSyntheticLlama(path, SHAPES[options.shape]!, { type: name });
  await report(`${options.shape} ${name}`, path);
}

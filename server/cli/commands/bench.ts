// `quern bench MODEL`: how fast a model is on this machine, or on the server at OLLAMA_HOST.

import { resolve } from "node:path";
import {
  benchmark,
  type BenchReport,
  type BenchSettings,
  formatMarkdown,
  formatReport,
  LOADING,
} from "../bench/mod.ts";
import { connect } from "../client/mod.ts";
import { isLoopback } from "../../network/host.ts";
import { readSettings } from "../../settings/settings.ts";
import { LiveLines, movesCursor, type Progress, showProgress } from "../terminal/mod.ts";
import type { CliDependencies } from "../dependencies.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { isPath } from "./run.ts";

const FORMATS = {
  table: formatReport,
  markdown: formatMarkdown,
  json: (report: BenchReport) => JSON.stringify(report, null, 2) + "\n",
};

/** Names of the ways to print. */
export const BENCH_FORMATS = Object.keys(FORMATS) as (keyof typeof FORMATS)[];

/** Options of the command line. */
export interface BenchOptions extends Required<Pick<BenchSettings, "promptTokens" | "parallel">> {
  tokens: number;
  repeat: number;
  /** Window in tokens. */
  ctx?: number;
  /** Name of a draft model. */
  draft?: string;
  format: keyof typeof FORMATS;
  json?: boolean;
  /** Whether to tell where the time goes. */
  profile?: boolean;
  /** Whether to write a report to send in. */
  report?: boolean;
}

/** Measures a model and prints the result, when all is known or something ends it. */
export function bench(
  dependencies: CliDependencies,
  model: string,
  options: BenchOptions,
): Promise<number> {
  const { terminal, environment, device } = dependencies;
  const { ctx, format, json, profile: _, report: __, ...measures } = options;
  const { host, maxSequences } = readSettings(environment);
  const settings: BenchSettings = {
    ...measures,
    model: isPath(model) ? resolve(model) : model,
    ...(ctx !== undefined && { contextLength: ctx }),
  };
  return interruptible(terminal, async (signal) => {
    const most = Math.max(1, ...settings.parallel);
    await using api = await connect(dependencies, { parallel: Math.min(most, maxSequences) });
    const isHere = api.inProcess || isLoopback(host.hostname);
    using steps = new Steps(dependencies, api.inProcess);
    const report = await benchmark(settings, {
      api,
      signal,
      readBandwidth: isHere ? device?.readBandwidth : undefined,
      describeDevice: api.inProcess ? device?.describe : undefined,
      onStep: (step) => steps.show(step),
    });
    steps[Symbol.dispose]();
    const { failure, ...measured } = report;
    const isWorthPrinting = failure === undefined || measured.rows.length > 0;
    if (isWorthPrinting) terminal.write(FORMATS[json ? "json" : format](measured));
    if (failure !== undefined) throw failure;
    return 0;
  });
}

/** Steps on standard error, which on a terminal go away before the report comes. */
class Steps implements Disposable {
  readonly #dependencies: CliDependencies;
  readonly #loadsHere: boolean;
  #progress: Progress | undefined;

  /** @param loadsHere whether loads are in this process, which shows their progress itself */
  constructor(dependencies: CliDependencies, loadsHere: boolean) {
    this.#dependencies = dependencies;
    this.#loadsHere = loadsHere;
  }

  show(step: string): void {
    if (step === LOADING && this.#loadsHere) return this[Symbol.dispose]();
    this.#progress ??= this.#open();
    this.#progress.update({ status: step });
  }

  [Symbol.dispose](): void {
    this.#progress?.[Symbol.dispose]();
    this.#progress = undefined;
  }

  #open(): Progress {
    const { terminal, environment } = this.#dependencies;
    return movesCursor(terminal.stderrIsTerminal, environment)
      ? new LiveLines(terminal, { transient: true })
      : showProgress(terminal, environment);
  }
}

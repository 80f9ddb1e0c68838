// Runs cases against one server and judges each: its answers, whether the server lives, and what
// the watch saw. If only time was at fault, the case runs again, alone and against a new server:
// machines have other work, and only what is slow three times is slow.

import { VISION_MODEL } from "../server/http/api/vision_app.ts";
import { Server } from "./server.ts";
import { type AreaResult, emptyResult, say } from "./table.ts";
import { type Case, type Fault, type FaultKind, Trial, Unavailable } from "./trial.ts";
import { type Sight, Watch } from "./watch.ts";

/** How long /health may take while one hostile request runs. In milliseconds. */
const HEALTH_LIMIT = 200;
/** How long another client's stream may pause. In milliseconds. */
const PAUSE_LIMIT = 2000;
/** Times that a case runs if only its time is at fault. */
const ATTEMPTS = 3;
/** Longest that any case may take, whatever it does. In milliseconds. */
const CASE_LIMIT = 300_000;
/** Rows of the prompts that warm a server up: drivers compile a kernel for every new number. */
const WARM_ROWS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 33, 40, 65, 100, 200];
/** Models that are there before a case begins. */
const MODELS = ["quern:tiny", "tiny", VISION_MODEL];
const TIMING: FaultKind[] = ["hang", "slow health", "pause"];

/** Runs cases. */
export class Runner {
  readonly results: AreaResult[] = [];
  readonly #folder: string;
  readonly #patience: number;
  readonly #watch: Watch;
  #server: Server | undefined;

  private constructor(folder: string, patience: number, watch: Watch) {
    this.#folder = folder;
    this.#patience = patience;
    this.#watch = watch;
  }

  /** A runner whose server takes its models from a folder. */
  static async create(folder: string, patience: number): Promise<Runner> {
    return new Runner(folder, patience, await Watch.start());
  }

  /** Ends what it started. */
  async close(): Promise<void> {
    this.#watch.over(undefined);
    await this.#server?.[Symbol.asyncDispose]();
    await this.#watch[Symbol.asyncDispose]();
  }

  /** Lets the driver compile what all cases use, and says how quick the idle machine is. */
  async warmUp(): Promise<void> {
    const server = await this.#start();
    const options = { num_predict: 4, temperature: 0 };
    for (const model of MODELS) {
      for (const rows of WARM_ROWS) {
        await generate(server, { model, raw: true, prompt: "x ".repeat(rows), options });
      }
      const four = { model, raw: true, prompt: "a b", options: { num_predict: 40 } };
      await Promise.all([0, 1, 2, 3].map(() => generate(server, four)));
      const format = { type: "array", items: { type: "integer" } };
      await generate(server, { model, prompt: "Hello", format, options });
    }
    this.#watch.over(server, false);
    await new Promise((done) => setTimeout(done, 2000));
    const { slowest, questions } = await this.#watch.look();
    say(`idle: /health within ${slowest.toFixed(0)} ms in ${questions} answers`);
    await this.#discard();
  }

  /** Runs the cases of an area until the deadline. */
  async runArea(name: string, cases: readonly Case[], deadline: number): Promise<void> {
    const result = emptyResult(name);
    this.results.push(result);
    const start = performance.now();
    for (const [index, one] of cases.entries()) {
      // Every area gets some time, however long earlier areas have taken.
      if (index > 0 && performance.now() > deadline) {
        result.skipped += cases.length - index;
        break;
      }
      await this.#runCase(result, one);
    }
    result.seconds = (performance.now() - start) / 1000;
    const { cases: all, passed, skipped, seconds } = result;
    say(`${name}: ${passed} of ${all} passed in ${seconds.toFixed(0)} s, ${skipped} not run`);
  }

  async #runCase(result: AreaResult, one: Case): Promise<void> {
    let faults: Fault[] = [];
    let checks = 1;
    const start = performance.now();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        ({ faults, checks } = await this.#judge(one));
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        say(`  not run, ${result.name}, ${one.name}: ${error.message}`);
        result.skipped++;
        return;
      }
      if (faults.length === 0) break;
      await this.#discard();
      if (!faults.every(({ kind }) => TIMING.includes(kind))) break;
    }
    for (const { kind, text } of faults) {
      result.faults[kind]++;
      say(`  ${kind.toUpperCase()}, ${result.name}, ${one.name}: ${text}`);
    }
    if (Deno.env.has("ATTACK_TIMES")) {
      say(`  ${((performance.now() - start) / 1000).toFixed(1)} s, ${one.name}`);
    }
    result.cases += checks;
    result.passed += Math.max(0, checks - faults.length);
  }

  async #judge(one: Case): Promise<{ faults: Fault[]; checks: number }> {
    const server = this.#server ?? await this.#start();
    this.#watch.over(server, !one.isUnwatched);
    await this.#watch.look();
    const trial = new Trial(server, this.#patience);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      trial.fault("hang", `over ${CASE_LIMIT / 1000} s in all`);
      late.resolve();
    }, CASE_LIMIT);
    let checks: number | void = undefined;
    try {
      checks = await Promise.race([one.run(trial), late.promise]);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      trial.fault("wrong", `the case failed: ${(error as Error).stack ?? error}`);
    } finally {
      clearTimeout(timer);
    }
    const sight = await this.#watch.look();
    this.#judgeSight(trial, sight, one);
    return { faults: trial.faults, checks: checks ?? 1 };
  }

  #judgeSight(trial: Trial, sight: Sight, { isUnwatched, attackers = 1 }: Case): void {
    trial.judgeLog();
    const { server } = trial;
    if (sight.isTooLarge) trial.fault("crash", "killed at 6 GB of memory");
    else if (server.ended) {
      const { signal, code } = server.ended;
      trial.fault("crash", `the server ended, ${signal ?? code}: ${server.tail()}`);
    }
    if (isUnwatched) return;
    for (const text of server.ended ? [] : sight.wrong) trial.fault("wrong", text);
    const patience = this.#patience;
    if (sight.beyondMachine > HEALTH_LIMIT * attackers * patience) {
      const [all, more] = [sight.slowest, sight.beyondMachine].map((time) => time.toFixed(0));
      trial.fault("slow health", `${all} ms, ${more} ms more than a server that does nothing`);
    }
    if (sight.longestPause > PAUSE_LIMIT * patience) {
      trial.fault("pause", `another client's stream paused ${sight.longestPause.toFixed(0)} ms`);
    }
  }

  async #start(): Promise<Server> {
    const environment = { OLLAMA_KEEP_ALIVE: "1h" };
    const server = await Server.start({ folder: this.#folder, environment });
    // Loads, and the kernels of first steps, are not part of an attack.
    const options = { num_predict: 2 };
    const load = (model: string) => generate(server, { model, prompt: "Hello", options });
    await Promise.all(MODELS.map(load));
    return this.#server = server;
  }

  async #discard(): Promise<void> {
    this.#watch.over(undefined);
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }
}

async function generate(server: Server, body: object): Promise<void> {
  const text = JSON.stringify({ stream: false, ...body });
  const response = await fetch(`${server.url}/api/generate`, { method: "POST", body: text });
  await response.text();
}

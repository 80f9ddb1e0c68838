// What a person does in the page and sees of it, for the judgment of the page.

import axe from "axe-core";
import type { Browser, Page } from "puppeteer-core";

declare const document: {
  querySelector(name: string): unknown;
  querySelectorAll(name: string): ArrayLike<unknown>;
};

/** What the steps of the judgment share. */
export interface Judgment {
  /** Runs a step of the test. */
  step(name: string, action: () => Promise<void>): Promise<void>;
  browser: Browser;
  page: Page;
  /** Address of the page. */
  url: string;
  /** Addresses of requests that left the origin. */
  strays: string[];
  /** What the page wrote to its console as errors. */
  errors: string[];
}

/** How long anything may take, in milliseconds. */
export const PATIENCE = 60_000;

const [, screenshots] = Deno.args.join(" ").match(/--screenshots[ =](\S+)/) ?? [];

/** Writes a line of the report. */
export const report = (line: string) =>
  Deno.stdout.writeSync(new TextEncoder().encode(`  ${line}\n`));

/** Whether times tell of the page, and not of other programs that keep the machine busy. */
export function isQuiet(): boolean {
  return Deno.loadavg()[0]! < navigator.hardwareConcurrency;
}

/** Goes to a view of the page by its name in the address. */
export async function openView(page: Page, name: string): Promise<void> {
  await page.evaluate((name) => void (location.hash = `#/${name}`), name);
  await page.waitForSelector("h1", { timeout: PATIENCE });
}

/** Clicks what has a name; each click is written down where `clicks` is given. */
export async function click(page: Page, name: string, clicks?: string[]): Promise<void> {
  const element = await page.waitForSelector(`::-p-aria([name="${name}"])`, { timeout: PATIENCE });
  await element!.evaluate((one) => (one as unknown as { click(): void }).click());
  clicks?.push(name);
}

/** Asks a question and waits until its answer is whole. */
export async function askQuestion(page: Page, question: string): Promise<void> {
  const answers = (await page.$$(".message.answer:not(.growing)")).length;
  await page.type(".composer textarea", question);
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    (before) =>
      document.querySelectorAll(".message.answer:not(.growing)").length > before &&
      !document.querySelector(".growing"),
    { timeout: PATIENCE },
    answers,
  );
}

/** What axe finds that is serious or worse. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const results = await page.evaluate(async () => {
    // deno-lint-ignore no-explicit-any
    const { violations } = await (globalThis as any).axe.run();
    // deno-lint-ignore no-explicit-any
    return violations.map((one: any) => [one.impact, one.id, one.nodes[0]?.html]);
  });
  return results.filter(([impact]: string[]) => impact === "serious" || impact === "critical")
    .map((one: string[]) => one.join(" "));
}

/** Pictures in light, dark and at 390 px, where somebody wants them. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!screenshots) return;
  await Deno.mkdir(screenshots, { recursive: true });
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    // Colours change over a moment.
    await new Promise((resolve) => setTimeout(resolve, 400));
    await page.screenshot({ path: `${screenshots}/${name}-${scheme}.png` });
  }
  await page.setViewport({ width: 390, height: 844 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await page.screenshot({ path: `${screenshots}/${name}-phone.png` });
  await page.setViewport({ width: 1280, height: 860 });
  await page.emulateMediaFeatures([]);
}

/** What the thread that draws a page did, in milliseconds of its processor time. */
export interface Trace {
  /** Each of its tasks. */
  tasks: number[];
  /** What took most of the longest one. */
  parts: string;
  /** What it did from the beginning of a frame to that of the next. */
  draws: number[];
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

/** What a page does while something is done; what starting the trace takes is none of it. */
export async function traceOf(page: Page, action: () => Promise<void>): Promise<Trace> {
  // What earlier steps left, such as axe's tree of each view, is not freed in a task that is measured.
  const client = await page.createCDPSession();
  await client.send("HeapProfiler.collectGarbage");
  await client.detach();
  await page.tracing.start({
    categories: ["devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"],
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await page.evaluate(() => void performance.mark("measured from here"));
  await action();
  const trace = JSON.parse(new TextDecoder().decode(await page.tracing.stop()));
  const events = trace.traceEvents as TraceEvent[];
  const mark = events.find(({ name }) => name === "measured from here")!;
  const drawing = events.filter(({ pid, tid, ts, tdur }) =>
    pid === mark.pid && tid === mark.tid && ts > mark.ts && tdur !== undefined
  );
  const tasks = drawing.filter(({ name }) => name === "RunTask").sort((a, b) => a.ts - b.ts);
  const longest = tasks.reduce((longest, one) => one.tdur! > longest.tdur! ? one : longest);
  const parts = drawing
    .filter((one) => one !== longest && one.ts >= longest.ts && one.ts < longest.ts + longest.dur!)
    .sort((a, b) => b.tdur! - a.tdur!).slice(0, 4)
    .map(({ name, tdur }) => `${name} ${(tdur! / 1000).toFixed(0)}`);
  return {
    tasks: tasks.map(({ tdur }) => tdur! / 1000),
    parts: parts.join(", "),
    draws: drawsOf(tasks, drawing),
  };
}

/** The sums of tasks from each that draws a frame to the next one that does. */
function drawsOf(tasks: readonly TraceEvent[], drawing: readonly TraceEvent[]): number[] {
  const frames = drawing.filter(({ name }) => name === "FireAnimationFrame").map(({ ts }) => ts);
  const draws: number[] = [];
  let next = 0;
  for (const { ts, dur, tdur } of tasks) {
    const before = next;
    while (next < frames.length && frames[next]! < ts + dur!) next++;
    if (next > before) draws.push(0);
    if (draws.length > 0) draws[draws.length - 1]! += tdur! / 1000;
  }
  return draws.slice(0, -1);
}

// The judgment of the page under load: ten conversations, six of which are answered at the same time,
// since a browser opens six connections to a server. What is measured is the processor time of the
// thread that draws the page, which other programs lengthen little, and the frames that it showed.

import { assert, assertEquals } from "@std/assert";
import type { Page } from "puppeteer-core";
import { click, isQuiet, type Judgment, PATIENCE, report, traceOf } from "../actions.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any, requestAnimationFrame: any;

/** Most milliseconds for which the page may not react to its user. */
const LONGEST_TASK = 50;

/** Milliseconds of a frame, and how many of them have to be drawn a second where nothing else runs. */
const FRAME = 1000 / 60;
const FEWEST_FRAMES = 57;

/** Judges how the page shows answers that come at the same time. */
export async function judgeFrames({ step, page }: Judgment): Promise<void> {
  await step(
    "ten conversations of 2,000 tokens, six at a time, at 60 frames a second",
    async () => {
      const wasQuiet = isQuiet();
      for (let count = 0; count < 4; count++) await begin(page);
      await settled(page);
      let frames: number[] = [];
      const { tasks, parts, draws } = await traceOf(page, async () => {
        for (let count = 0; count < 6; count++) await begin(page);
        frames = await framesUntilSettled(page);
      });
      const gaps = frames.slice(1).map((time, index) => time - frames[index]!);
      const seconds = (frames.at(-1)! - frames[0]!) / 1000;
      const rate = gaps.length / seconds;
      const late = gaps.filter((gap) => gap > 1.5 * FRAME).length;
      const longest = Math.max(...tasks);
      const heavy = draws.filter((milliseconds) => milliseconds > FRAME).length;
      const mean = draws.reduce((sum, one) => sum + one, 0) / draws.length;
      const found =
        `${gaps.length} frames in ${seconds.toFixed(1)} s, ${rate.toFixed(1)} a second, ` +
        `${late} late, the longest gap ${
          Math.max(...gaps).toFixed(0)
        } ms; processor time of a frame ` +
        `${mean.toFixed(1)} ms, ${heavy} of ${draws.length} over ${FRAME.toFixed(1)} ms; ` +
        `longest task ${longest.toFixed(0)} ms (${parts})`;
      report(found);
      const answers = await page.$$eval(
        ".conversation-title",
        (all) => all.filter((one) => one.textContent === "long").length,
      );
      assert(answers >= 10, `${answers} conversations`);
      assertEquals(
        await page.$$eval(".message.answer .facts", (all) => all.length),
        1,
      );
      assert(longest > 0 && longest < LONGEST_TASK, found);
      assert(heavy < draws.length / 50, found);
      assert(!wasQuiet || rate > FEWEST_FRAMES, found);
    },
  );
}

/** Asks for 2,000 tokens in a conversation of their own, and does not wait for them. */
async function begin(page: Page): Promise<void> {
  await click(page, "New conversation");
  await page.type(".composer textarea", "long");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".growing");
}

/** Waits until no conversation is answered any more. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll(".conversation-time")].every((one) => one.textContent !== "…"),
    { timeout: PATIENCE, polling: 500 },
  );
}

/** The times of the frames that the page draws until no conversation is answered any more. */
async function framesUntilSettled(page: Page): Promise<number[]> {
  await page.evaluate(() => {
    // deno-lint-ignore no-explicit-any
    const frames: number[] = (globalThis as any).frameTimes = [];
    const note = (time: number) => {
      frames.push(time);
      requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
  });
  await settled(page);
  // deno-lint-ignore no-explicit-any
  return await page.evaluate(() => (globalThis as any).frameTimes.slice());
}

// The judgment of the page in a real browser: `deno task test:web`. Each item of the page is done as a
// person would do it, with quern:tiny; the steps of each view are in views/. Where no Chromium is found,
// nothing is judged, and that is said. --screenshots FOLDER in the arguments keeps pictures in light,
// dark and at 390 px.

import { assertEquals } from "@std/assert";
import type { Page } from "puppeteer-core";
import { type Judgment, openView, PATIENCE, picture, seriousFaults } from "./actions.ts";
import { SCRIPT } from "./answers.ts";
import { findChromium, launch, openWatched, proxy, serve } from "./browser.ts";
import { judgeChat } from "./views/chat.ts";
import { judgeExplorer, judgeGuide } from "./views/documents.ts";
import { judgeFrames } from "./views/frames.ts";
import { judgeKeyboard } from "./views/keyboard.ts";
import { judgeMachine, judgeModels, judgeTokens } from "./views/models.ts";
import { judgeSchemas } from "./views/schemas.ts";
import { judgeSpeech } from "./views/speech.ts";
import { judgeTab, provideLibrary } from "./views/tab.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any, innerWidth: number;

const chromium = findChromium();

Deno.test({
  name: chromium ? "the page in a browser" : "the page in a browser: no Chromium was found",
  ignore: !chromium,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(test) {
    await provideLibrary();
    await using server = await serve();
    await using front = proxy(server.url, SCRIPT);
    const browser = await launch(chromium!);
    const { page, strays, errors } = await openWatched(browser, front.url);
    const step = async (name: string, action: () => Promise<void>) => {
      await test.step(name, action);
    };
    const judgment = { step, browser, page, url: front.url, strays, errors };
    try {
      await judgeSchemas(judgment);
      await judgeChat(judgment);
      await judgeTokens(judgment);
      await judgeModels(judgment);
      await judgeTab(judgment);
      await judgeMachine(judgment);
      await judgeExplorer(judgment);
      await judgeAccess(judgment);
      await judgeFrames(judgment);
      await judgeKeyboard(judgment);
      await judgeGuide(judgment);
      await judgeSpeech(judgment);
      await judgePrivacy(judgment);
    } finally {
      await browser.close();
    }
  },
});

/** Judges all views as axe does, for people who see or hear little. */
async function judgeAccess({ step, page }: Judgment): Promise<void> {
  await step("axe finds nothing serious in any view: light, dark, at 390 px", async () => {
    const faults: string[] = [];
    for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["dark", 390]] as const) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.setViewport({ width, height: 860 });
      for (const name of ["chat", "schema", "tokens", "models", "machine"]) {
        await openView(page, name);
        await new Promise((resolve) => setTimeout(resolve, 600));
        const found = await seriousFaults(page);
        if (await isWiderThanScreen(page)) found.push("it can be scrolled sideways");
        faults.push(...found.map((one) => `${name} ${scheme} ${width}: ${one}`));
      }
    }
    await page.setViewport({ width: 1280, height: 860 });
    await openView(page, "chat");
    await page.click(".conversation");
    await page.waitForSelector(".message");
    faults.push(...await seriousFaults(page));
    assertEquals(faults, []);
  });
}

/** Whether a page has to be moved sideways to be read. */
async function isWiderThanScreen(page: Page): Promise<boolean> {
  return await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
}

/** Judges what left the page, and where it keeps a key. */
async function judgePrivacy({ step, browser, strays, errors }: Judgment): Promise<void> {
  await step("nothing left the origin, and the console has no errors", () => {
    assertEquals(strays, []);
    assertEquals(errors, []);
    return Promise.resolve();
  });

  await step(
    "with a key the page asks for it, and keeps it for the session alone",
    async () => {
      await using locked = await serve({ QUERN_API_KEY: "open sesame" });
      const other = await openWatched(browser, locked.url);
      await other.page.goto(locked.url);
      await other.page.waitForSelector("dialog[open] input", { timeout: PATIENCE });
      await picture(other.page, "key");
      await other.page.type("dialog input", "open sesame");
      await other.page.keyboard.press("Enter");
      await other.page.waitForSelector(".suggestions button:not(:disabled)", {
        timeout: PATIENCE,
      });
      const kept = await other.page.evaluate(() => [
        JSON.stringify({ ...localStorage }).includes("sesame"),
        JSON.stringify({ ...sessionStorage }).includes("sesame"),
      ]);
      assertEquals(kept, [false, true]);
      assertEquals(other.strays, []);
    },
  );
}

// The judgment of the explorer of the API at /docs, and of the documentation at /docs/guide.

import { assert, assertEquals } from "@std/assert";
import { click, type Judgment, PATIENCE, picture, seriousFaults } from "../actions.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any;

/** Judges the explorer, and returns to the page at /. */
export async function judgeExplorer({ step, page, url }: Judgment): Promise<void> {
  await step("the explorer sends requests", async () => {
    await page.goto(`${url}/docs#listModels`, { waitUntil: "networkidle0" });
    await page.waitForSelector("form .primary", { timeout: PATIENCE });
    await page.click("form .primary");
    await page.waitForFunction(
      () => document.querySelector(".answer-body")?.textContent?.includes("quern:tiny"),
      { timeout: PATIENCE },
    );
    assertEquals(await seriousFaults(page), []);
    await picture(page, "docs");
    await page.goto(url, { waitUntil: "networkidle0" });
  });
}

/** Judges the documentation. */
export async function judgeGuide({ step, page, url }: Judgment): Promise<void> {
  await step("the documentation can be read, and leads from page to page", async () => {
    await page.goto(`${url}/docs/guide`, { waitUntil: "networkidle0" });
    await click(page, "Structured output");
    await page.waitForSelector("figure.code .hl-string", { timeout: PATIENCE });
    assert(page.url().endsWith("/docs/guide/structured-output"), page.url());
    await Promise.all([page.waitForNavigation(), page.click('.neighbours [rel="next"]')]);
    assert(page.url().endsWith("/docs/guide/tools-and-thinking"), page.url());
    await Promise.all([page.waitForNavigation(), page.click('.neighbours [rel="prev"]')]);
    await page.waitForSelector("figure.code .hl-string", { timeout: PATIENCE });
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      assertEquals(await seriousFaults(page), [], scheme);
    }
    await picture(page, "guide");
  });
}

// The judgment of the view of schemas: an answer under a schema, and what the token mask allowed.

import { assert, assertEquals } from "@std/assert";
import type { Page } from "puppeteer-core";
import { click, isQuiet, type Judgment, PATIENCE, picture, report } from "../actions.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any;

/** Most milliseconds until the page shows something. */
const FIRST_PAINT = 1000;

async function chooseSample(page: Page, name: string): Promise<void> {
  const names = await page.$$eval(".samples option", (all) => all.map((one) => one.textContent));
  await page.select(".samples", String(names.indexOf(name) - 1));
}

/** Judges the view of schemas, from an empty store on. */
export async function judgeSchemas({ step, page, url, errors }: Judgment): Promise<void> {
  await step("a newcomer gets from an empty store to valid JSON under a schema", async () => {
    const clicks: string[] = [];
    await page.goto(url, { waitUntil: "networkidle0" });
    const paint = await page.evaluate(() =>
      performance.getEntriesByName("first-contentful-paint")[0]!.startTime
    );
    report(`first contentful paint after ${paint.toFixed(0)} ms`);
    assert(!isQuiet() || paint < FIRST_PAINT, `${paint} ms`);
    await click(page, "Schemas", clicks);
    await click(page, "Answer under this format", clicks);
    await page.waitForFunction(
      () =>
        document.querySelectorAll(".token").length > 5 &&
        !!document.querySelector("button.primary"),
      { timeout: PATIENCE },
    );
    const answer = await page.$$eval(
      ".token",
      (tokens) => tokens.map((one) => one.textContent).join(""),
    );
    const { name, age, city } = JSON.parse(answer.replaceAll("·", " "));
    assertEquals([typeof name, Number.isInteger(age), typeof city], ["string", true, "string"]);
    report(`clicks: ${clicks.join(" › ")}`);
  });

  await step(
    "the workbench shows what was allowed, and where a schema is refused",
    async () => {
      await page.evaluate(() => document.querySelectorAll(".token")[4].click());
      const shown = await page.$eval(".workbench", (one) => one.innerText);
      assert(/\d of 4,096 tokens allowed/.test(shown), shown);
      assert(await page.$(".token.forced") && await page.$(".format-editor mark"));
      await picture(page, "schema");
      const before = errors.length;
      await chooseSample(page, "A schema that is refused");
      await click(page, "Answer under this format");
      await page.waitForSelector(".notice.error", { timeout: PATIENCE });
      const said = await page.$eval(".notice.error", (one) => one.textContent);
      assert(said!.includes("Refused at /properties/age"), said!);
      // The browser itself writes down that a request was refused.
      assertEquals(errors.splice(before).every((error) => error.includes("400")), true);
    },
  );

  await step(
    "the part in force is marked in anyOf, in patterns and in grammars at each token",
    async () => {
      const samples = { "One of several forms": "{", "A pattern": ".", "A grammar": "[a-h]" };
      for (const [name, part] of Object.entries(samples)) {
        await chooseSample(page, name);
        await click(page, "Answer under this format");
        await page.waitForFunction(
          () =>
            document.querySelectorAll(".token").length > 0 &&
            !!document.querySelector("button.primary"),
          { timeout: PATIENCE },
        );
        const marks = await page.evaluate(async () => {
          const found = new Set<string>();
          for (const token of document.querySelectorAll(".token")) {
            token.click();
            await new Promise((resolve) => setTimeout(resolve, 20));
            for (const mark of document.querySelectorAll(".format-editor mark")) {
              found.add(mark.textContent);
            }
          }
          return [...found];
        });
        assert(
          marks.length > 1 && marks.some((one) => one.includes(part)),
          `${name}: ${marks}`,
        );
      }
      await picture(page, "grammar");
    },
  );
}

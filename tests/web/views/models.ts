// The judgment of the views of tokens, of models, and of the machine that runs them.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { click, type Judgment, openView, PATIENCE, picture, seriousFaults } from "../actions.ts";
import { FakeRegistry } from "../../server/registry/fake_registry.ts";
import { sampleModel } from "../../server/registry/fixtures.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any;

/** Judges the view of tokens. */
export async function judgeTokens({ step, page }: Judgment): Promise<void> {
  await step("an answer is seen as tokens, and goes on from another one", async () => {
    await openView(page, "tokens");
    await page.type(".view textarea", "How do I pull a model?");
    await page.click(".view .primary");
    await page.waitForFunction(
      () =>
        document.querySelectorAll(".token").length > 8 &&
        !document.querySelector(".view .quiet"),
      { timeout: PATIENCE },
    );
    await page.evaluate(() => document.querySelectorAll(".token")[3].click());
    await page.waitForSelector(".likeliest button");
    const other = await page.$$eval(".likeliest button code", (all) => all[1]!.textContent);
    await page.evaluate(() => document.querySelectorAll(".likeliest button")[1].click());
    await page.waitForFunction(
      (other) => document.querySelectorAll(".token")[3]?.textContent === other,
      { timeout: PATIENCE },
      other,
    );
    await picture(page, "tokens");
    await page.evaluate(() => document.querySelectorAll(".view-head .segments input")[1].click());
    await page.waitForSelector(".text-tokens li", { timeout: PATIENCE });
  });
}

/** Judges the view of models, with a pull from a slow registry. */
export async function judgeModels({ step, page }: Judgment): Promise<void> {
  await step("models: plan, load, unload, create, copy, delete", async () => {
    await openView(page, "models");
    await page.waitForSelector('[data-model="quern:tiny"] details', { timeout: PATIENCE });
    await page.evaluate(() => {
      (document.querySelector('[data-model="quern:tiny"] details')).open = true;
    });
    await page.waitForSelector(".plan-legend", { timeout: PATIENCE });
    await picture(page, "models");
    await click(page, "Unload");
    await page.waitForFunction(() => !document.querySelector(".badge.on"), {
      timeout: PATIENCE,
    });
    await click(page, "Load");
    await page.waitForFunction(() => document.body.innerText.includes("leaves in"), {
      timeout: PATIENCE,
    });
    await page.evaluate(() => {
      (document.querySelector(".card details")).open = true;
    });
    await page.type(".card details input", "helper");
    await click(page, "Create");
    await page.waitForSelector('[data-model="helper:latest"]', { timeout: PATIENCE });
    const press = (model: string, name: string) =>
      page.evaluate(
        (model, name) => {
          const buttons = document.querySelectorAll(`[data-model="${model}"] > .row button`);
          [...buttons].find((one) => one.textContent === name).click();
        },
        model,
        name,
      );
    await press("helper:latest", "Copy");
    await page.waitForSelector("dialog input");
    assertEquals(await seriousFaults(page), []);
    await picture(page, "copy");
    await page.keyboard.press("Enter");
    for (const model of ["helper-copy:latest", "helper:latest"]) {
      await page.waitForSelector(`[data-model="${model}"]`, { timeout: PATIENCE });
      await press(model, "Delete");
      await page.waitForSelector("dialog .danger");
      assertEquals(await seriousFaults(page), []);
      await page.click("dialog .danger");
      await page.waitForFunction(
        (model) => !document.querySelector(`[data-model="${model}"]`),
        { timeout: PATIENCE },
        model,
      );
    }
  });

  await step("a pull shows how far each layer is", async () => {
    const sample = sampleModel();
    await using registry = new FakeRegistry(sample);
    registry.misbehave((_, proper) => ({
      ...proper,
      pace: { bytes: 4096, milliseconds: 100 },
    }));
    await page.type(".card form input", `http://${registry.name}`);
    await click(page, "Pull");
    // The largest layer is partly there.
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll(".layers progress")]
          .some((one) => one.value > 0 && one.value < one.max),
      { timeout: PATIENCE },
    );
    await picture(page, "pull");
    registry.recover();
    await page.waitForFunction(
      () => !document.querySelector('.card > [role="status"]'),
      { timeout: PATIENCE },
    );
    assertEquals(await page.$(".card > .notice"), null);
    const layers = await page.$$eval(
      ".layers li > span",
      (all) => all.map((one) => one.textContent!),
    );
    assertEquals(layers.length, sample.blobs.size);
    for (const layer of layers) {
      const [completed, total] = layer.split(" / ");
      assertEquals(completed, total);
    }
  });
}

/** Judges the view of the machine. */
export async function judgeMachine({ step, page }: Judgment): Promise<void> {
  await step("the machine: charts, last requests, the doctor", async () => {
    await openView(page, "machine");
    await page.waitForSelector(".chart polyline", { timeout: PATIENCE });
    const charts = await page.$$eval(
      ".chart svg",
      (all) => all.map((one) => one.getAttribute("aria-label")!).join("; "),
    );
    assertMatch(charts, /Running sequences: 0 of 4 now/);
    assertMatch(charts, /KV blocks in use: 0 of [1-9]\d* now/);
    assertMatch(charts, /KV blocks kept: \d+ of [1-9]\d* now/);
    // What was asked before in this run is in the cache.
    await page.waitForSelector(".kept tbody tr", { timeout: PATIENCE });
    assertMatch(
      await page.$eval(".kept td:nth-child(8)", (cell) => cell.textContent!),
      /^\d.* of \d/,
    );
    await page.waitForSelector(".findings table", { timeout: PATIENCE });
    assert(await page.$("td .badge"));
    await picture(page, "machine");
  });
}

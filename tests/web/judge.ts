// The judgment of the page in a real browser: `deno task test:web`. Each item of the page is done as a
// person would do it, with quern:tiny. Where no Chromium is found, nothing is judged, and that is said.
// --screenshots FOLDER in the arguments keeps pictures in light, dark and at 390 px.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  askQuestion,
  click,
  longestTask,
  PATIENCE,
  picture,
  report,
  seriousFaults,
} from "./actions.ts";
import { pdfOf, PNG, SCRIPT } from "./answers.ts";
import { FakeRegistry } from "../server/registry/fake_registry.ts";
import { sampleModel } from "../server/registry/fixtures.ts";
import { findChromium, launch, openWatched, proxy, serve } from "./browser.ts";

// What runs in the page knows a browser's globals, which this program has no types of.
// deno-lint-ignore no-explicit-any
type Element = any;
type HTMLElement = Element;
type HTMLDetailsElement = Element;
type HTMLInputElement = Element;
type HTMLProgressElement = Element;
declare const document: Element;

const chromium = findChromium();

/** Bounds of the judgment, in milliseconds. */
const FIRST_PAINT = 1000;
const LONGEST_TASK = 50;

/** Whether times say something of the page, and not of who else keeps the machine busy. */
function isQuiet(): boolean {
  return Deno.loadavg()[0]! < navigator.hardwareConcurrency;
}

Deno.test({
  name: chromium ? "the page in a browser" : "the page in a browser: no Chromium was found",
  ignore: !chromium,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn(test) {
    await using server = await serve();
    await using front = proxy(server.url, SCRIPT);
    const browser = await launch(chromium!);
    const { page, strays, errors } = await openWatched(browser, front.url);
    page.on("dialog", (dialog) => void dialog.accept());
    const step = async (name: string, action: () => Promise<void>) => {
      await test.step(name, action);
    };
    const chooseSample = async (name: string) => {
      const names = await page.$$eval(
        ".samples option",
        (all) => all.map((one) => one.textContent),
      );
      await page.select(".samples", String(names.indexOf(name) - 1));
    };
    const view = async (name: string) => {
      await page.evaluate((name) => void (location.hash = `#/${name}`), name);
      await page.waitForSelector("h1", { timeout: PATIENCE });
    };
    try {
      await step("a newcomer gets from an empty store to valid JSON under a schema", async () => {
        const clicks: string[] = [];
        await page.goto(front.url, { waitUntil: "networkidle0" });
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
          await page.evaluate(() =>
            (document.querySelectorAll(".token")[4] as HTMLElement).click()
          );
          const shown = await page.$eval(".workbench", (one) => (one as HTMLElement).innerText);
          assert(/\d of 4,096 tokens allowed/.test(shown), shown);
          assert(await page.$(".token.forced") && await page.$(".format-editor mark"));
          await picture(page, "schema");
          const before = errors.length;
          await chooseSample("A schema that is refused");
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
            await chooseSample(name);
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

      await step("the chat answers, tells its figures, and keeps the conversation", async () => {
        await view("chat");
        await askQuestion(page, "How do I pull a model?");
        const facts = await page.$eval(".facts", (one) => one.textContent!);
        assert(/tokens\/s.*first token after.*tokens read/.test(facts), facts);
        await askQuestion(page, "And how do I remove it?");
        const [, second] = await page.$$eval(".facts", (all) => all.map((one) => one.textContent!));
        assert(/of them cached/.test(second!), second);
        await page.waitForSelector(".context-meter");
        await picture(page, "chat");
        await page.reload({ waitUntil: "networkidle0" });
        await page.click(".conversation");
        await page.waitForSelector(".message.answer");
      });

      await step(
        "answers are written again beside the first, questions are edited as branches",
        async () => {
          await click(page, "Answer again");
          await page.waitForFunction(() => document.body.innerText.includes("2 of 2"), {
            timeout: PATIENCE,
          });
          await page.click('[aria-label="Branch before"]');
          await page.waitForFunction(() => document.body.innerText.includes("1 of 2"));
          await page.evaluate(() =>
            (document.querySelector(".edit-button") as HTMLElement).click()
          );
          await page.waitForSelector(".editor textarea");
          await page.type(".editor textarea", " Say it in one line.");
          await page.click(".editor .primary");
          await page.waitForFunction(
            () =>
              !document.querySelector(".growing") &&
              document.querySelectorAll(".message.answer").length === 1,
            { timeout: PATIENCE },
          );
        },
      );

      await step("an answer is stopped", async () => {
        await click(page, "New conversation");
        await page.type(".composer textarea", "long");
        await page.keyboard.press("Enter");
        await page.waitForSelector(".growing .markdown", { timeout: PATIENCE });
        await page.keyboard.press("Escape");
        await page.waitForFunction(() => document.body.innerText.includes("Stopped."));
      });

      await step(
        "what the model no longer sees is told, and marked in the conversation",
        async () => {
          await click(page, "New conversation");
          await askQuestion(page, "rich");
          await askQuestion(page, "forgetful");
          await page.waitForSelector(".message.answer + .dropped-line + .message.question");
          assert(await page.$(".context-meter.full"));
          await picture(page, "dropped");
        },
      );

      await step("tables, code and maths are laid out", async () => {
        await click(page, "New conversation");
        await askQuestion(page, "rich");
        await page.waitForSelector(".markdown table");
        await page.waitForSelector(".hl-keyword", { timeout: PATIENCE });
        await page.waitForSelector("math mfrac", { timeout: PATIENCE });
        await picture(page, "markdown");
      });

      await step("a hostile answer becomes nothing and loads nothing", async () => {
        await click(page, "New conversation");
        await askQuestion(page, "hostile");
        await new Promise((resolve) => setTimeout(resolve, 1000));
        const found = await page.evaluate(() => ({
          // deno-lint-ignore no-explicit-any
          wasRun: (globalThis as any).wasRun ?? null,
          elements: document.querySelectorAll(
            ".answer img, .answer script, .answer iframe, .answer style, .answer svg:not(.icon)",
          ).length,
          links: [...document.querySelectorAll(".answer a")].map((one) => one.getAttribute("href")),
          styles: document.querySelectorAll(".answer [style], .answer [onerror], .answer [onload]")
            .length,
        }));
        assertEquals(found, { wasRun: null, elements: 0, links: [], styles: 0 });
        assertEquals(strays, []);
      });

      await step("images, texts and PDF go with a question", async () => {
        await click(page, "New conversation");
        const input = await page.$('.composer input[type="file"]');
        const folder = await Deno.makeTempDir();
        await Deno.writeTextFile(`${folder}/notes.txt`, "The word is heron.");
        await Deno.writeFile(`${folder}/page.pdf`, pdfOf(["The word is kestrel."]));
        // As programs write them: compressed, with fonts of its own that are cut down.
        const print = await browser.newPage();
        await print.setContent("<h1>Vögel</h1><p>The third word is <i>wagtail</i>.</p>");
        await print.pdf({ path: `${folder}/print.pdf` });
        await print.close();
        await Deno.writeFile(`${folder}/dot.png`, PNG);
        // deno-lint-ignore no-explicit-any
        await (input as any).uploadFile(
          `${folder}/notes.txt`,
          `${folder}/page.pdf`,
          `${folder}/print.pdf`,
          `${folder}/dot.png`,
        );
        await page.waitForFunction(
          () => document.querySelectorAll(".composer .attachments li").length === 4,
          { timeout: PATIENCE },
        );
        assert(await page.$(".composer .attachments img"));
        await page.click('[aria-label="Remove dot.png"]');
        let sent = "";
        page.once("request", (request) => sent = request.postData() ?? "");
        await askQuestion(page, "What is the word?");
        const { messages } = JSON.parse(sent);
        for (const word of ["heron", "kestrel", "Vögel", "third word is wagtail"]) {
          assertStringIncludes(messages[0].content, word);
        }
        await Deno.remove(folder, { recursive: true });
      });

      await step(
        "settings: system prompt, options, thinking, tools and their results",
        async () => {
          await click(page, "New conversation");
          await click(page, "Settings of this conversation");
          await page.waitForSelector(".panel");
          assertEquals(await seriousFaults(page), []);
          await picture(page, "settings");
          await click(page, "Put in a sample");
          await click(page, "Close");
          await askQuestion(page, "What is the weather in Bern? Use the tool.");
          if (await page.$(".call")) {
            await page.type(".call textarea", '{"sky": "blue"}');
            await page.click(".calls .primary");
            await page.waitForFunction(() => document.querySelector(".message.tool"), {
              timeout: PATIENCE,
            });
          } else report("the model called no tool");
        },
      );

      await step("conversations are found, exported and taken in again", async () => {
        await page.waitForFunction(() => !document.querySelector(".growing"), {
          timeout: PATIENCE,
        });
        await page.type("#history-search", "remove it");
        await page.waitForFunction(() =>
          document.querySelectorAll(".conversations li").length === 1
        );
        await page.$eval("#history-search", (one) => {
          (one as HTMLInputElement).value = "";
          one.dispatchEvent(new Event("input", { bubbles: true }));
        });
        const count = (await page.$$(".conversations li")).length;
        const folder = await Deno.makeTempDir();
        await Deno.writeTextFile(
          `${folder}/a.md`,
          "# Birds\n\n## You\n\nWhich?\n\n## Answer\n\nHerons.\n",
        );
        const input = await page.$('.history input[type="file"]');
        // deno-lint-ignore no-explicit-any
        await (input as any).uploadFile(`${folder}/a.md`);
        await page.waitForFunction(
          (count) => document.querySelectorAll(".conversations li").length === count + 1,
          { timeout: PATIENCE },
          count,
        );
        await Deno.remove(folder, { recursive: true });
      });

      await step("an answer is seen as tokens, and goes on from another one", async () => {
        await view("tokens");
        await page.type(".view textarea", "How do I pull a model?");
        await page.click(".view .primary");
        await page.waitForFunction(
          () =>
            document.querySelectorAll(".token").length > 8 &&
            !document.querySelector(".view .quiet"),
          { timeout: PATIENCE },
        );
        await page.evaluate(() => (document.querySelectorAll(".token")[3] as HTMLElement).click());
        await page.waitForSelector(".likeliest button");
        const other = await page.$$eval(".likeliest button code", (all) => all[1]!.textContent);
        await page.evaluate(() =>
          (document.querySelectorAll(".likeliest button")[1] as HTMLElement).click()
        );
        await page.waitForFunction(
          (other) => document.querySelectorAll(".token")[3]?.textContent === other,
          { timeout: PATIENCE },
          other,
        );
        await picture(page, "tokens");
        await page.evaluate(() =>
          (document.querySelectorAll(".view-head .segments input")[1] as HTMLElement).click()
        );
        await page.waitForSelector(".text-tokens li", { timeout: PATIENCE });
      });

      await step("models: plan, load, unload, create, copy, delete", async () => {
        await view("models");
        await page.waitForSelector('[data-model="quern:tiny"] details', { timeout: PATIENCE });
        await page.evaluate(() => {
          (document.querySelector('[data-model="quern:tiny"] details') as HTMLDetailsElement).open =
            true;
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
          (document.querySelector(".card details") as HTMLDetailsElement).open = true;
        });
        await page.type(".card details input", "helper");
        await click(page, "Create");
        await page.waitForSelector('[data-model="helper:latest"]', { timeout: PATIENCE });
        await page.evaluate(() =>
          (document.querySelector('[data-model="helper:latest"] .danger') as HTMLElement).click()
        );
        await page.waitForFunction(
          () => !document.querySelector('[data-model="helper:latest"]'),
          { timeout: PATIENCE },
        );
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
              .some((one: HTMLProgressElement) => one.value > 0 && one.value < one.max),
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

      await step("the machine: charts, last requests, the doctor", async () => {
        await view("machine");
        await page.waitForSelector(".chart polyline", { timeout: PATIENCE });
        const charts = await page.$$eval(
          ".chart svg",
          (all) => all.map((one) => one.getAttribute("aria-label")!).join("; "),
        );
        assertMatch(charts, /Running sequences: 0 of 4 now/);
        assertMatch(charts, /KV blocks in use: 0 of [1-9]\d* now/);
        assertMatch(charts, /KV blocks kept: \d+ of [1-9]\d* now/);
        await page.waitForSelector(".findings", { timeout: PATIENCE });
        assert(await page.$("td .badge"));
        await picture(page, "machine");
      });

      await step("the explorer sends requests", async () => {
        await page.goto(`${front.url}/docs#listModels`, { waitUntil: "networkidle0" });
        await page.waitForSelector("form .primary", { timeout: PATIENCE });
        await page.click("form .primary");
        await page.waitForFunction(
          () => document.querySelector(".answer-body")?.textContent?.includes("quern:tiny"),
          { timeout: PATIENCE },
        );
        assertEquals(await seriousFaults(page), []);
        await picture(page, "docs");
        await page.goto(front.url, { waitUntil: "networkidle0" });
      });

      await step("axe finds nothing serious in any view, light or dark", async () => {
        const faults: string[] = [];
        for (const scheme of ["light", "dark"]) {
          await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
          for (const name of ["chat", "schema", "tokens", "models", "machine"]) {
            await view(name);
            await new Promise((resolve) => setTimeout(resolve, 600));
            faults.push(...(await seriousFaults(page)).map((one) => `${name} ${scheme}: ${one}`));
          }
        }
        await view("chat");
        await page.click(".conversation");
        await page.waitForSelector(".message");
        faults.push(...await seriousFaults(page));
        assertEquals(faults, []);
      });

      await step("2,000 tokens stream beside ten conversations without long tasks", async () => {
        await click(page, "New conversation");
        const { milliseconds, parts } = await longestTask(page, () => askQuestion(page, "long"));
        const found = `longest task: ${milliseconds.toFixed(0)} ms of the processor (${parts})`;
        report(found);
        assert(milliseconds > 0 && milliseconds < LONGEST_TASK, found);
      });

      await step("the documentation can be read, and leads from page to page", async () => {
        await page.goto(`${front.url}/docs/guide`, { waitUntil: "networkidle0" });
        await click(page, "Structured output");
        await page.waitForSelector("figure.code .hl-string", { timeout: PATIENCE });
        assert(page.url().endsWith("/docs/guide/structured-output"), page.url());
        for (const scheme of ["light", "dark"]) {
          await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
          assertEquals(await seriousFaults(page), [], scheme);
        }
        await picture(page, "guide");
      });

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
    } finally {
      await browser.close();
    }
  },
});

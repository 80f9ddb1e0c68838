// The judgment of a model of the server that runs in the tab: it is fetched, kept, and answers there.

import { assertEquals, assertMatch } from "@std/assert";
import type { HTTPRequest, Page } from "puppeteer-core";
import { buildForPage } from "../../../library/build.ts";
import { PROJECT_ROOT } from "../../source_files.ts";
import { askQuestion, click, type Judgment, openView, PATIENCE, picture } from "../actions.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any;

/** Builds what the server gives to pages for it, unless it is there. */
export async function provideLibrary(): Promise<void> {
  const folder = new URL("dist/library", PROJECT_ROOT).pathname;
  const isThere = await Deno.stat(`${folder}/index.js.br`).then(() => true, () => false);
  if (!isThere) await buildForPage(folder);
}

/** Shows the details of quern:tiny. */
async function openDetails(page: Page): Promise<void> {
  await page.waitForSelector('[data-model="quern:tiny"] details', { timeout: PATIENCE });
  await page.evaluate(() => {
    document.querySelector('[data-model="quern:tiny"] details').open = true;
  });
}

/** Judges it with quern:tiny. */
export async function judgeTab({ step, page }: Judgment): Promise<void> {
  await step("where the library for it is not built, the page says how that is done", async () => {
    const answer = (request: HTTPRequest) => {
      const isAsked = new URL(request.url()).pathname === "/web/library";
      void (isAsked
        ? request.respond({ contentType: "application/json", body: '{"built":false}' })
        : request.continue());
    };
    await page.setRequestInterception(true);
    page.on("request", answer);
    await openView(page, "models");
    await openDetails(page);
    await page.waitForFunction(
      () => document.body.innerText.includes("deno task build:tab"),
      { timeout: PATIENCE },
    );
    page.off("request", answer);
    await page.setRequestInterception(false);
  });

  await step("a model of the server runs in this tab, and answers there", async () => {
    await openView(page, "chat");
    await openView(page, "models");
    await openDetails(page);
    await click(page, "Run in this tab");
    await page.waitForFunction(
      () => document.body.innerText.includes("Answers come from this tab"),
      {
        timeout: PATIENCE,
      },
    );
    const said = await page.$eval(
      ".card [role=status], .details [role=status]",
      (element) => element.textContent,
    );
    assertMatch(said!, /this tab: CPU, \d+ threads?/);
    await picture(page, "tab");
    const asked: string[] = [];
    const note = (request: { url(): string }) => void asked.push(new URL(request.url()).pathname);
    page.on("request", note);
    await openView(page, "chat");
    await askQuestion(page, "Hello, who are you?");
    page.off("request", note);
    assertEquals(asked.filter((path) => path === "/api/chat"), []);
    const written = await page.$$eval(".message.answer", (all) => all.at(-1)?.textContent ?? "");
    assertMatch(written, /\w.*tokens\/s/);
    await openView(page, "models");
    await openDetails(page);
    await click(page, "Leave the tab");
    await page.waitForFunction(
      () => !document.body.innerText.includes("Answers come from this tab"),
      {
        timeout: PATIENCE,
      },
    );
  });
}

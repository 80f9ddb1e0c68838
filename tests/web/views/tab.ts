// The judgment of a model of the server that runs in the tab: it is fetched, kept, and answers there.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
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

/** Shows the details of a model. */
async function openDetails(page: Page, name = "quern:tiny"): Promise<void> {
  const selector = `[data-model="${name}"] details`;
  await page.waitForSelector(selector, { timeout: PATIENCE });
  await page.evaluate((selector) => {
    document.querySelector(selector).open = true;
  }, selector);
}

/** Sends a body to the server. */
async function send(url: string, path: string, body: object, method = "POST"): Promise<string> {
  const response = await fetch(url + path, { method, body: JSON.stringify(body) });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return text;
}

/** Judges it with quern:tiny. */
export async function judgeTab({ step, page, url }: Judgment): Promise<void> {
  await step("where the library for it is not built, the page says how that is done", async () => {
    const answer = (request: HTTPRequest) => {
      const isAsked = new URL(request.url()).pathname === "/web/library";
      void (isAsked
        ? request.respond({ contentType: "application/json", body: '{"built":false}' })
        : request.continue());
    };
    await page.setRequestInterception(true);
    page.on("request", answer);
    await openView(page, "chat");
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

  await step(
    "a Modelfile's template, turns and parameters count in the tab as on the server",
    async () => {
      const model = "shaped:latest";
      await send(url, "/api/create", {
        model,
        from: "quern:tiny",
        template: "{{ range .Messages }}<{{ .Role }}> {{ .Content }}\n{{ end }}Quern is",
        messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello" }],
        parameters: { temperature: 0, num_predict: 12 },
        stream: false,
      });
      const messages = [{ role: "user", content: "What is Quern?" }];
      const answer = JSON.parse(await send(url, "/api/chat", { model, messages, stream: false }));
      await page.reload();
      await openView(page, "models");
      await openDetails(page, model);
      await click(page, "Run in this tab");
      await page.waitForFunction(
        () => document.body.innerText.includes("Answers come from this tab"),
        { timeout: PATIENCE },
      );
      await click(page, "Chat");
      await askQuestion(page, messages[0]!.content);
      const written = await page.$$eval(".message.answer", (all) => all.at(-1)?.textContent ?? "");
      assertMatch(answer.message.content, /\w{2}/);
      assertStringIncludes(words(written), words(answer.message.content));
      await send(url, "/api/delete", { model }, "DELETE");
      await page.reload();
    },
  );
}

/** A text without what Markdown makes of it. */
function words(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}

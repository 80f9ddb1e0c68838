// The judgment of the chat: answers, branches, what is attached to a question, settings and the history.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "puppeteer-core";
import {
  askQuestion,
  click,
  type Judgment,
  openView,
  PATIENCE,
  picture,
  report,
  seriousFaults,
} from "../actions.ts";
import { pdfOf, PNG } from "../answers.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any;
// deno-lint-ignore no-explicit-any
declare const DataTransfer: any, ClipboardEvent: any, DragEvent: any;

/** Judges the chat. */
export async function judgeChat({ step, browser, page, strays }: Judgment): Promise<void> {
  await step("the chat answers, tells its figures, and keeps the conversation", async () => {
    await openView(page, "chat");
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
      await page.evaluate(() => (document.querySelector(".edit-button")).click());
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
    assertEquals(await seriousFaults(page), []);
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

  await step("files are pasted and dropped", async () => {
    await click(page, "New conversation");
    await page.evaluate((png) => {
      const transferOf = (file: unknown) => {
        const transfer = new DataTransfer();
        transfer.items.add(file);
        return transfer;
      };
      const bytes = Uint8Array.from(atob(png), (sign) => sign.charCodeAt(0));
      const [image, notes] = [
        new File([bytes], "pasted.png", { type: "image/png" }),
        new File(["The word is heron."], "dropped.txt", { type: "text/plain" }),
      ];
      const may = { bubbles: true, cancelable: true };
      document.querySelector(".composer textarea").dispatchEvent(
        new ClipboardEvent("paste", { ...may, clipboardData: transferOf(image) }),
      );
      document.querySelector(".chat").dispatchEvent(
        new DragEvent("drop", { ...may, dataTransfer: transferOf(notes) }),
      );
    }, PNG.toBase64());
    await page.waitForSelector('.composer [aria-label="Remove pasted.png"]', { timeout: PATIENCE });
    await page.waitForSelector('.composer [aria-label="Remove dropped.txt"]');
    await picture(page, "attachments");
    // The model sees nothing, and would refuse the question and all that follow it.
    const canSend = () => page.$eval(".composer .send", (one) => !one.disabled);
    assertEquals(await canSend(), false);
    await page.click('[aria-label="Remove pasted.png"]');
    await page.waitForFunction(() => !document.querySelector(".composer .attachments img"));
    assertEquals(await canSend(), true);
    // What is not sent yet belongs to its conversation.
    await page.click(".conversation");
    await page.waitForFunction(() => !document.querySelector(".composer .attachments li"));
  });

  await step("thinking is folded, calls of tools are shown and answered", async () => {
    await click(page, "New conversation");
    await askQuestion(page, "thoughtful");
    assertEquals(await page.$eval(".thinking", (one) => one.open), false);
    assertStringIncludes(
      await page.$eval(".thinking", (one) => one.textContent),
      "which a tool knows.",
    );
    assertStringIncludes(await page.$eval(".call", (one) => one.textContent), '"city": "Bern"');
    assertEquals(await seriousFaults(page), []);
    await page.type(".call textarea", '{"sky": "blue"}');
    await picture(page, "tools");
    let sent = "";
    page.once("request", (request) => sent = request.postData() ?? "");
    await page.click(".calls .primary");
    await page.waitForSelector(".message.tool", { timeout: PATIENCE });
    const { messages } = JSON.parse(sent);
    assertEquals(messages.at(-1).role, "tool");
    assertEquals(messages.at(-1).content, '{"sky": "blue"}');
    await page.waitForFunction(() => !document.querySelector(".growing"), { timeout: PATIENCE });
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
    await page.waitForFunction(() => document.querySelectorAll(".conversations li").length === 1);
    await page.$eval("#history-search", (one) => {
      one.value = "";
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
    const exported = await download(page, folder, () => click(page, "Export all as JSON"));
    assertEquals(JSON.parse(exported).conversations.length, count + 1);
    await page.click(".conversation");
    await page.waitForSelector(".message");
    const asMarkdown = () =>
      page.evaluate(() => document.querySelector(".menu-list button").click());
    assertStringIncludes(await download(page, folder, asMarkdown), "## Answer\n\nHerons.");
    const titles = () =>
      page.$$eval(".conversation-title", (all) => all.map((one) => one.textContent!));
    const before = await titles();
    await page.evaluate(() => document.querySelector(".conversations .icon-button").click());
    await page.waitForFunction(
      (count) => document.querySelectorAll(".conversations li").length === count,
      {},
      count,
    );
    await click(page, "Undo");
    await page.waitForFunction(
      (count) => document.querySelectorAll(".conversations li").length === count + 1,
      { timeout: PATIENCE },
      count,
    );
    assertEquals(await titles(), before);
    await Deno.remove(folder, { recursive: true });
  });
}

/** What a page offers as a file when something is done. */
async function download(
  page: Page,
  folder: string,
  action: () => Promise<unknown>,
): Promise<string> {
  const target = await Deno.makeTempDir({ dir: folder });
  const client = await page.createCDPSession();
  await client.send("Page.setDownloadBehavior", { behavior: "allow", downloadPath: target });
  await action();
  const deadline = Date.now() + PATIENCE;
  while (Date.now() < deadline) {
    for await (const { name } of Deno.readDir(target)) {
      if (!name.endsWith(".crdownload")) return await Deno.readTextFile(`${target}/${name}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The page offered no file in time");
}

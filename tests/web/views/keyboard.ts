// The judgment of the keyboard: everything that can be clicked is reached by Tab and shows that it is,
// and a person gets from the page's beginning to answers without a mouse.

import { assertEquals } from "@std/assert";
import type { Page } from "puppeteer-core";
import { type Judgment, openView, PATIENCE } from "../actions.ts";

// Functions given to the page run there, with a browser's globals, of which this program has no types.
// deno-lint-ignore no-explicit-any
declare const document: any, getComputedStyle: any;

/** Judges the keyboard. */
export async function judgeKeyboard({ step, page, url }: Judgment): Promise<void> {
  await step("a schema is answered and a question asked by the keyboard alone", async () => {
    // A view that takes no focus itself, so that Tab begins at the beginning of the page.
    await page.goto("about:blank");
    await page.goto(`${url}/#/models`, { waitUntil: "networkidle0" });
    await page.keyboard.press("Tab");
    assertEquals(await focused(page), "Skip to content");
    await page.keyboard.press("Enter");
    assertEquals(await page.evaluate(() => document.activeElement.id), "main");
    await hold(page, "Alt", "Digit2");
    await page.waitForSelector(".workbench", { timeout: PATIENCE });
    await tabTo(page, "Answer under this format");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".whole-answer", { timeout: PATIENCE });
    await tabTo(page, "Token", 8);
    const before = await focused(page);
    await page.keyboard.press("ArrowLeft");
    assertEquals(await focused(page) !== before, true);
    await hold(page, "Alt", "Digit1");
    await page.waitForSelector(".composer textarea");
    await page.keyboard.down("Control");
    await hold(page, "Shift", "KeyO");
    await page.keyboard.up("Control");
    await page.waitForFunction(() => document.activeElement.matches(".composer textarea"));
    await page.keyboard.type("How do I pull a model?");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".message.answer:not(.growing) .facts", { timeout: PATIENCE });
    await page.keyboard.press("ArrowUp");
    await page.waitForFunction(() => document.activeElement.matches(".editor textarea"));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.querySelector(".editor"));
    await hold(page, "Control", "KeyK");
    assertEquals(await page.evaluate(() => document.activeElement.id), "history-search");
    await page.keyboard.press("Tab");
    await page.keyboard.type("?");
    await page.waitForSelector("dialog[open]");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !document.querySelector("dialog"));
  });

  await step("Tab reaches everything in every view, and shows where it is", async () => {
    const faults: string[] = [];
    for (const view of ["chat", "schema", "tokens", "models", "machine"]) {
      await openView(page, view);
      await new Promise((resolve) => setTimeout(resolve, 500));
      faults.push(...(await tabFaults(page)).map((fault) => `${view}: ${fault}`));
    }
    assertEquals(faults, []);
  });
}

async function hold(
  page: Page,
  held: "Alt" | "Control" | "Shift",
  key: "Digit1" | "Digit2" | "KeyK" | "KeyO",
) {
  await page.keyboard.down(held);
  await page.keyboard.press(key);
  await page.keyboard.up(held);
}

/** The name of what has the focus. */
async function focused(page: Page): Promise<string> {
  return await page.evaluate(() => {
    const element = document.activeElement;
    return element.getAttribute("aria-label") ?? element.textContent.trim();
  });
}

/** Presses Tab until something has the focus whose name begins so. */
async function tabTo(page: Page, name: string, most = 60): Promise<void> {
  for (let count = 0; count < most; count++) {
    if ((await focused(page)).startsWith(name)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab leads to no "${name}"`);
}

/** What Tab does not reach, and what does not show that it has the focus. */
async function tabFaults(page: Page): Promise<string[]> {
  const count = await page.evaluate(() => {
    const names = "a[href], button, input, select, textarea, summary, [tabindex='0']";
    const all = [...document.querySelectorAll(names)].filter((one) =>
      one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }) &&
      !one.matches(".skip, [type=file]") &&
      // Of the choices of a group, Tab reaches the one that is chosen.
      !(one.type === "radio" && !one.checked)
    );
    all.forEach((one, index) => one.dataset.place = index);
    document.activeElement?.blur();
    return all.length;
  });
  const faults: string[] = [];
  const reached = new Set<string>();
  for (let press = 0; press < count + 5; press++) {
    await page.keyboard.press("Tab");
    const { place, name, isShown } = await page.evaluate(() => {
      const element = document.activeElement;
      const frames = [element, element.closest("label"), element.closest(".composer-box")];
      return {
        place: element.dataset.place ?? "",
        name: element.outerHTML.slice(0, 120),
        isShown: element === document.body ||
          frames.some((one) =>
            one && (getComputedStyle(one).outlineStyle !== "none" ||
              one.matches(".composer-box:focus-within"))
          ),
      };
    });
    reached.add(place);
    if (!isShown) faults.push(`shows no focus: ${name}`);
  }
  const missed = await page.evaluate((reached) =>
    [...document.querySelectorAll("[data-place]")]
      .filter((one) => !reached.includes(one.dataset.place))
      .map((one) => one.outerHTML.slice(0, 120)), [...reached]);
  return [...faults, ...missed.map((name) => `is not reached: ${name}`)];
}

// The pages of /docs/guide, which the server renders: they can be read without this. It adds what the
// other pages have: the chosen appearance, colours and a copy button for code, and a menu on phones.

import { render } from "preact";
import { Code } from "./markdown/code.tsx";
import "./shell/theme.ts";
import { text } from "./strings.ts";
import { CopyButton, IconButton } from "./ui/controls.tsx";

for (const figure of document.querySelectorAll("figure.code")) {
  const [caption, frame] = [figure.querySelector("figcaption")!, figure.querySelector("pre")!];
  const code = frame.textContent!;
  const language = caption.textContent!;
  frame.textContent = "";
  render(<Code code={code} language={language} />, frame);
  const slot = document.createElement("span");
  caption.append(slot);
  render(<CopyButton value={() => code} />, slot);
}

const sides = document.querySelectorAll(".side, .shade");
const toggle = () => sides.forEach((one) => one.classList.toggle("shown"));
document.querySelector(".shade")!.addEventListener("click", toggle);
render(
  <IconButton icon="menu" label={text.nav.menu} class="menu-button" onClick={toggle} />,
  document.querySelector(".menu-place")!,
);

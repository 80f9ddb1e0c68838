// Maths in TeX as MathML, which browsers set themselves: no fonts to load and no styles in the text.
// KaTeX comes with a file of its own, at the first formula.

import { createElement, type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";

type Convert = (tex: string, isBlock: boolean) => string;

let loading: Promise<Convert> | undefined;
let convert: Convert | undefined;

function loadKatex(): Promise<Convert> {
  return loading ??= import("./katex.ts").then((module) => convert = module.toMathMl);
}

/** A formula; as it was written until KaTeX is there, or where it is none. */
export function Maths({ tex, isBlock }: { tex: string; isBlock: boolean }) {
  const [isReady, setReady] = useState(convert !== undefined);
  useEffect(() => {
    let isHere = true;
    if (!isReady) void loadKatex().then(() => isHere && setReady(true));
    return () => void (isHere = false);
  }, []);
  const formula = isReady ? toElements(tex, isBlock) : undefined;
  if (!formula) return <code class="formula">{tex}</code>;
  return isBlock ? <div class="formula-block" tabIndex={0}>{formula}</div> : formula;
}

/** Elements of MathML that formulas are made of. Any other shows its text alone. */
const ELEMENTS = new Set([
  ...["math", "semantics", "mrow", "mi", "mn", "mo", "mtext", "mspace", "ms", "mfrac", "msqrt"],
  ...["mroot", "mstyle", "merror", "mpadded", "mphantom", "menclose", "msub", "msup", "msubsup"],
  ...["munder", "mover", "munderover", "mmultiscripts", "mtable", "mtr", "mtd", "mlabeledtr"],
]);

/** Attributes that say how a formula looks, and nothing else. */
const ATTRIBUTES = new Set([
  ...["display", "mathvariant", "stretchy", "fence", "separator", "lspace", "rspace", "minsize"],
  ...["maxsize", "accent", "accentunder", "linethickness", "width", "height", "depth", "voffset"],
  ...["columnalign", "rowspacing", "columnspacing", "scriptlevel", "displaystyle", "notation"],
  ...["movablelimits", "symmetric", "largeop", "columnlines", "rowlines", "form"],
]);

function toElements(tex: string, isBlock: boolean): VNode | undefined {
  try {
    const source = convert!(tex, isBlock);
    const parsed = new DOMParser().parseFromString(source, "text/xml");
    const root = parsed.getElementsByTagName("math")[0];
    return root && toElement(root, 0);
  } catch {
    return undefined;
  }
}

function toElement(element: Element, key: number): VNode | undefined {
  const name = element.localName;
  // What the formula was written as is for programs that read the page.
  if (name === "annotation") return undefined;
  const attributes = Object.fromEntries(
    [...element.attributes].filter(({ name }) => ATTRIBUTES.has(name))
      .map(({ name, value }) => [name, value]),
  );
  const children = [...element.childNodes].map((child, index) =>
    child instanceof Element ? toElement(child, index) : child.textContent
  );
  const known = ELEMENTS.has(name) ? name : "mrow";
  return createElement(known, { key, ...attributes } as object, children) as VNode;
}

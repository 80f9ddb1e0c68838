// Colours of code: highlight.js with the languages that answers are mostly in. Its tree is read, not
// its HTML.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** A piece of code with the kind of what it is. */
export interface CodePart {
  text: string;
  kind?: string;
}

const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** A node of what highlight.js makes. */
interface Node {
  scope?: string;
  children: (Node | string)[];
}

/** The parts of some code; undefined for languages that are not known. */
export function highlight(code: string, language: string): CodePart[] | undefined {
  if (!hljs.getLanguage(language)) return undefined;
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as {
    _emitter: { rootNode: Node };
  };
  const parts: CodePart[] = [];
  const visit = (node: Node | string, kind: string | undefined): void => {
    if (typeof node === "string") {
      parts.push({ text: node, ...(kind && { kind }) });
      return;
    }
    const own = node.scope?.split(".")[0] ?? kind;
    for (const child of node.children) visit(child, own);
  };
  visit(_emitter.rootNode, undefined);
  return parts;
}

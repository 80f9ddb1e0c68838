// MiniMax M3: arguments as nested elements, each tag after a token of its own. Only the tool's
// schema distinguishes a list from an object with the key "item", and a number from text.

import {
  choice,
  type Grammar,
  literal,
  repeat,
  sequence,
  textWithout,
} from "../../../grammar/mod.ts";
import type { AnswerFamily, CallableTool, ReadCall } from "../types.ts";
import { ordered, separated } from "./ordered.ts";
import {
  argumentsOf,
  countsOf,
  itemsOf,
  propertiesOf,
  type Property,
  propertyOf,
  type Schema,
  toolOf,
  typesOf,
  unheldWithin,
} from "./tool_schema.ts";
import { textGrammar, valueOfText } from "./typed_text.ts";

const MARK = "]<]minimax[>[";

const OPEN = `${MARK}<tool_call>`;

const CLOSE = `${MARK}</tool_call>`;

/** Most nesting of elements. */
const MAX_DEPTH = 100;

/** Most nesting of elements in a grammar. */
const MAX_GRAMMAR_DEPTH = 4;

/** Types that are written as text. */
const SCALARS = ["null", "boolean", "number", "string"] as const;

interface Element {
  readonly name: string;
  text: string;
  readonly children: Element[];
}

export const MINIMAX_M3: AnswerFamily = {
  name: "minimax-m3",
  recognises: (template) => template.includes(MARK),
  thinking: { open: "<mm:think>", close: "</mm:think>" },
  // Without thinking, answers begin with its closing mark.
  text: { open: ["</mm:think>"], close: [] },
  calls: {
    openings: [OPEN],
    closing: CLOSE,
    read(body, _, tools) {
      const elements = readElements(body);
      const calls = elements?.map((element) => callOf(element, tools));
      const isWhole = calls && calls.length > 0 && calls.every((call) => call !== undefined);
      return isWhole ? calls : undefined;
    },
    grammar(tools, { parallel }) {
      const call = choice(...tools.map((tool) =>
        sequence(
          literal(`${MARK}<invoke name="${tool.name}">`),
          members(argumentsOf(tool), 0),
          literal(`${MARK}</invoke>\n`),
        )
      ));
      return sequence(literal(`${OPEN}\n`), separated(call, "", parallel), literal(CLOSE));
    },
    unheld: (tool) => unheldWithin(argumentsOf(tool), MAX_GRAMMAR_DEPTH),
  },
};

function callOf({ name, children }: Element, tools: readonly CallableTool[]): ReadCall | undefined {
  const called = /^invoke name="([^"]+)"$/.exec(name)?.[1];
  if (called === undefined) return undefined;
  return { name: called, arguments: objectOf(children, argumentsOf(toolOf(called, tools))) };
}

/** The elements of a text, each tag of which is after a mark. */
function readElements(text: string): Element[] | undefined {
  const root: Element = { name: "", text: "", children: [] };
  const open = [root];
  const [before = "", ...tags] = text.split(MARK);
  if (before.trim() !== "") return undefined;
  for (const tag of tags) {
    const [, slash, name = "", after = ""] = /^<(\/?)([^>]+)>([^]*)$/.exec(tag) ?? [];
    const top = open.at(-1)!;
    if (slash === "") {
      const element: Element = { name, text: after, children: [] };
      top.children.push(element);
      open.push(element);
    } else if (slash === undefined || top.name.split(" ")[0] !== name || after.trim() !== "") {
      return undefined;
    } else open.pop();
    if (open.length === 0 || open.length > MAX_DEPTH) return undefined;
  }
  return open.length === 1 ? root.children : undefined;
}

function objectOf(children: readonly Element[], schema: Schema): Record<string, unknown> {
  return Object.fromEntries(
    children.map((child) => [child.name, valueOf(child, propertyOf(schema, child.name))]),
  );
}

function valueOf({ text, children }: Element, schema: Schema): unknown {
  const types = typesOf(schema);
  const isEmpty = children.length === 0;
  if (isEmpty && !(text.trim() === "" && !types.has("string"))) return valueOfText(text, schema);
  const isList = types.has("array") &&
    (!types.has("object") || children.every(({ name }) => name === "item"));
  if (isList) return children.map((child) => valueOf(child, itemsOf(schema)));
  return isEmpty && !types.has("object") ? null : objectOf(children, schema);
}

/** @param isFilled whether there has to be one, because nothing would be read as an empty text */
function members(schema: Schema, depth: number, isFilled = false): Grammar {
  const properties = propertiesOf(schema);
  if (!properties || depth > MAX_GRAMMAR_DEPTH) return repeat(ANY_ELEMENT, Number(isFilled));
  const inOrder = (some: readonly Property[]) =>
    ordered(some, ({ key, schema }) => element(key, value(schema, depth + 1)));
  if (!isFilled || properties.some(({ required }) => required)) return inOrder(properties);
  return choice(
    ...properties.map((first, index) =>
      inOrder([{ ...first, required: true }, ...properties.slice(index + 1)])
    ),
  );
}

/** A value, by the types that its schema allows: nested elements, or text. */
function value(schema: Schema, depth: number): Grammar {
  const types = typesOf(schema);
  const options: Grammar[] = [];
  const scalars = new Set(SCALARS.filter((type) => types.has(type)));
  if (scalars.size > 0) options.push(textGrammar(schema, textWithout(MARK), scalars));
  const isFilled = types.has("string");
  if (types.has("object")) options.push(members(schema, depth, isFilled));
  if (types.has("array")) {
    const item = depth > MAX_GRAMMAR_DEPTH ? textWithout(MARK) : value(itemsOf(schema), depth + 1);
    const { min, max } = countsOf(schema);
    if (max > 0 || !isFilled) {
      options.push(repeat(element("item", item), Math.max(min, Number(isFilled)), max));
    }
  }
  return choice(...options);
}

function element(name: string, inside: Grammar): Grammar {
  return sequence(literal(`${MARK}<${name}>`), inside, literal(`${MARK}</${name}>`));
}

/** An element with any name and text. */
const ANY_ELEMENT = sequence(
  literal(`${MARK}<`),
  textWithout("<", "/", ">", "\n", " "),
  literal(">"),
  textWithout(MARK),
  literal(`${MARK}</`),
  textWithout("<", "/", ">", "\n", " "),
  literal(">"),
);

// A tool of the catalogue as it is offered once: with a name, names of parameters in some order, a
// description, and the values that a request would tell.

import type { Tool } from "../../../engine/types/mod.ts";
import { capitalize, fill, type Random } from "../random.ts";
import type { Split } from "../types.ts";
import { madeUpWord } from "../words/made_up.ts";
import type { ToolTemplate } from "./tool_catalog.ts";
import { KINDS, type Typed } from "./tool_parameters.ts";

/** What stands before what a tool does. */
const DESCRIPTIONS = "[|||||Function to |Tool to |Use this to |Call this to ]{about}[|.]";
/** Share of the names of tools and parameters that is made up, so that names are read, not known. */
const MADE_UP = 0.06;

/** A tool with its names chosen: how the list in the prompt has it. */
export interface OfferedTool {
  template: ToolTemplate;
  name: string;
  /** By kind, in the order of the list: name and type of each parameter, and the value to tell. */
  parameters: Map<string, Typed & { name: string }>;
}

/** Chooses the names of a tool, the order of its parameters and values for them. */
export function offer(template: ToolTemplate, random: Random, split: Split): OfferedTool {
  const parameters: OfferedTool["parameters"] = new Map();
  const taken = new Set<string>();
  for (const kind of random.shuffle([...words(template.needs), ...words(template.may)])) {
    const typed = KINDS[kind]!.make(random, split);
    let name = makeUp(random.pick(KINDS[kind]!.names), random, split);
    if (taken.has(name)) name = `${name}_${taken.size + 1}`;
    taken.add(name);
    parameters.set(kind, { ...typed, name });
  }
  return { template, name: nameOf(template, random, split), parameters };
}

/** One of the template's names, at times in camel case. */
function nameOf(template: ToolTemplate, random: Random, split: Split): string {
  const name = makeUp(random.pick(words(template.names)), random, split);
  if (random.chance(0.85)) return name;
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** In training, at times makes a name or a part of it up. */
function makeUp(name: string, random: Random, split: Split): string {
  if (split === "heldOut" || !random.chance(MADE_UP)) return name;
  const word = madeUpWord(random);
  return random.pick([word, `${word}_${name}`, `${name}_${word}`]);
}

/** The tool as the list in the prompt has it. */
export function describe({ template, name, parameters }: OfferedTool, random: Random): Tool {
  const about = fill(random.expand(DESCRIPTIONS), { about: template.about });
  const optional = words(template.may);
  const all = [...parameters];
  const isExplained = random.chance(0.25);
  return {
    type: "function",
    function: {
      name,
      description: capitalize(about),
      parameters: {
        type: "object",
        properties: Object.fromEntries(
          all.map((
            [kind, { name, schema }],
          ) => [name, { ...schema, ...(isExplained && { description: KINDS[kind]!.meaning }) }]),
        ),
        required: all.filter(([kind]) => !optional.includes(kind)).map(([, { name }]) => name),
      },
    },
  };
}

/** By kind: the values of the parameters. */
export function valuesOf(tool: OfferedTool): Record<string, unknown> {
  return Object.fromEntries([...tool.parameters].map(([kind, { value }]) => [kind, value]));
}

/** By kind: the values as a user says them. */
export function textsOf(tool: OfferedTool): Record<string, string> {
  return Object.fromEntries([...tool.parameters].map(([kind, { text }]) => [kind, text]));
}

/** The kinds that a pattern has places for. */
export function placesOf(pattern: string): string[] {
  return [...pattern.matchAll(/\{(\w+)\}/g)].map(([, kind]) => kind!);
}

/** The group of tools that may be mistaken for each other. */
export function groupOf(template: ToolTemplate): string {
  return template.group ?? template.names;
}

/** The words of a list written as text. */
export function words(text = ""): string[] {
  return text === "" ? [] : text.split(" ");
}

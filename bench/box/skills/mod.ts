// All skills: six that are evaluated, and two that keep company. The shares are of training examples.

import type { Skill } from "../types.ts";
import { about } from "./about.ts";
import { arithmetic } from "./arithmetic.ts";
import { chatter } from "./chatter.ts";
import { copy } from "./copy.ts";
import { extraction } from "./extraction.ts";
import { language } from "./language.ts";
import { memory } from "./memory.ts";
import { tools } from "./tools.ts";

/** What the figures of the model card are about. */
export const EVALUATED: readonly Skill[] = [about, extraction, tools, arithmetic, language, memory];

/** What the model is trained on, with the share of each skill. */
export const TAUGHT: readonly (readonly [Skill, share: number])[] = [
  [about, 0.06],
  [extraction, 0.13],
  [tools, 0.5],
  [arithmetic, 0.08],
  [language, 0.05],
  [memory, 0.1],
  [chatter, 0.05],
  [copy, 0.03],
];

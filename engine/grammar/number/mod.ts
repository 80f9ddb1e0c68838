// Sets of numbers, exact however large, fine or oddly divided, and the automata of their spellings
// in JSON. Knows no schemas.

export { checkSpelling, numberAutomaton } from "./automaton.ts";
export type { NumberAutomaton, NumberAutomatonOptions } from "./automaton.ts";
export { NumberError } from "./errors.ts";
export {
  allNumbers,
  complement,
  exactly,
  finiteNumbers,
  hasNumber,
  hasOnlyIntegers,
  integers,
  intersect,
  interval,
  isEmptyNumbers,
  multipleOf,
  sameNumbers,
  union,
} from "./number_set.ts";
export type { Interval, NumberSet } from "./number_set.ts";

// The filters of kernels/ops/filters as WGSL: `prepare_early_filters` and `prepare_late_filters` find what
// they need of an output; then `early_filters_keep` and `filters_keep` tell whether a token is kept, by its
// logit minus the greatest.

import type { Arithmetic, Filter, Total } from "../../ops/filters/filter.ts";
import { EARLY_FILTERS, FILTERS } from "../../ops/filters/list.ts";
import { snakeCase } from "../snippets.ts";
import sums from "./filters.wgsl" with { type: "text" };

type Text = Arithmetic<string, string>;

/** Numbers and conditions as text. */
function arithmetic(filter: number): Text {
  return {
    // A text without a point would be an integer, which no float is compared with.
    constant: (value) => `f32(${value})`,
    option: (name) => `options.${snakeCase(name)}`,
    random: () => `f32(philox(vec4(position, 0u, 1u, ${filter}u), options.seed).x) * 0x1p-32`,
    add: (a, b) => `((${a}) + (${b}))`,
    subtract: (a, b) => `((${a}) - (${b}))`,
    multiply: (a, b) => `((${a}) * (${b}))`,
    divide: (a, b) => `((${a}) / (${b}))`,
    greatest: (a, b) => `max(${a}, ${b})`,
    choose: (condition, yes, no) => `select(${no}, ${yes}, ${condition})`,
    exp: (value) => `exp(max(${value}, -80.0))`,
    ln: (value) => `ln(${value})`,
    atLeast: (a, b) => `((${a}) >= (${b}))`,
    not: (condition) => `!(${condition})`,
  };
}

const namesOf = (index: number) =>
  FILTERS[index]!.totals.map((_, total) => `total_${index}_${total}`);

/** A condition that a token is kept by the first filters. */
function keep(count: number): string {
  return FILTERS.slice(0, count).map(({ keeps }, index) =>
    keeps ? ` && (!filter_${index} || ${keeps(arithmetic(index), "relative", namesOf(index))})` : ""
  ).join("");
}

/** A function that finds what some filters need. */
function preparation(name: string, first: number, end?: number): string {
  const steps = FILTERS.slice(first, end).map(({ isOn, totals }, at) => {
    const [index, m] = [first + at, arithmetic(first + at)];
    const found = totals.map((total, number) => stepOf(total, m, namesOf(index), number, index));
    // A variable of the module is not uniform, and so could not decide about barriers.
    return `  let is_on_${index} = ${isOn(m)};
  filter_${index} = is_on_${index};
  if (is_on_${index}) {
${found.join("")}  }
`;
  });
  return `fn prepare_${name}_filters(
  options: Sampling, entries: Entries, last: vec2<u32>, position: u32, thread: u32,
) {
${steps.join("")}}
`;
}

/** A snippet with the filters. */
export function filtersSnippet(): string {
  const variables = FILTERS.flatMap(({ totals }, index) => [
    `var<private> filter_${index}: bool;`,
    ...totals.map((_, total) => `var<private> total_${index}_${total}: f32;`),
  ]);
  const temperatures = FILTERS.map((filter: Filter, index) =>
    filter.temperature
      ? `  if (filter_${index}) {
    temperature = ${filter.temperature(arithmetic(index), namesOf(index))};
  }
`
      : ""
  );
  return `${sums}
${variables.join("\n")}

${preparation("early", 0, EARLY_FILTERS)}
${preparation("late", EARLY_FILTERS)}
fn early_filters_keep(options: Sampling, relative: f32) -> bool {
  return true${keep(EARLY_FILTERS)};
}

fn filters_keep(options: Sampling, relative: f32) -> bool {
  return true${keep(FILTERS.length)};
}

fn filtered_temperature(options: Sampling) -> f32 {
  var temperature = options.temperature;
${temperatures.join("")}  return temperature;
}
`;
}

/** Statements that find a total. */
function stepOf(
  total: Total,
  m: Text,
  names: readonly string[],
  number: number,
  filter: number,
): string {
  const [name, before] = [names[number]!, names.slice(0, number)];
  /** Runs a statement for all tokens that are left, as `item` with the logit `relative`. */
  const each = (statement: string, ofAll = false) => {
    const [tokens, end] = ofAll
      ? ["all_allowed(entries)", "vec2(entries.best_key - DISALLOWED - 1u, NONE)"]
      : ["entries", "last"];
    return `
      let tokens = ${tokens};
      for (var at = thread; at < tokens.size; at += WORKGROUP) {
        let item = entry(tokens, at);
        let relative = relative_logit(item.x, entries.best_key);
        if (is_kept(item, ${end})${ofAll ? "" : keep(filter)}) {
          ${statement}
        }
      }`;
  };
  switch (total.kind) {
    case "value":
      return `    ${name} = ${total.of(m, before)};\n`;
    case "sum": {
      const one = `fixed_point(${total.of(m, "relative", before)})`;
      return `    {
      var sum = vec2(0u);${each(`sum = add64(sum, ${one});`, total.ofAll)}
      ${name} = number_of(workgroup_sum(sum, thread));
    }
`;
    }
    case "least":
      return `    {
      var far = 0u;${
        each(`if (${total.of(m, "relative", before)}) {
            far = max(far, item.x);
          }`)
      }
      ${name} = relative_logit(workgroup_greatest(far, thread), entries.best_key);
    }
`;
    case "reach": {
      // Numbers of 0 and above have the order of their bits.
      const own = `bitcast<u32>(${total.of(m, "relative", before)})`;
      return `    {
      let goal = ${total.goal(m, before)};
      var low = 0u;
      var high = INFINITY - 1u;
      for (var bit = 0u; bit < 31u; bit++) {
        let middle = low + (high - low) / 2u;
        var sum = vec2(0u);${
        each(`if (${own} <= middle) {
            sum = add64(sum, fixed_point(exp(max(relative, -80.0))));
          }`)
      }
        let is_reached = number_of(workgroup_sum(sum, thread)) >= goal;
        high = select(high, middle, is_reached);
        low = select(min(middle + 1u, high), low, is_reached);
      }
      ${name} = bitcast<f32>(high);
    }
`;
    }
  }
}

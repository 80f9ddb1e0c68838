// The filters of kernels/ops/filters in WGSL. `prepare_filters` finds what they need of an output;
// then `filters_keep` tells whether a token is kept, by its logit minus the greatest. Sums are of integers,
// as in select.wgsl, so that they do not depend on the order of invocations.

import type { Arithmetic, Filter, Total } from "../../ops/filters/filter.ts";
import { snakeCase } from "../structs.ts";

/** Numbers and conditions as text. */
function arithmetic(filter: number): Arithmetic<string, string> {
  return {
    constant: (value) => `f32(${value})`,
    option: (name) => `options.${snakeCase(name)}`,
    random: () => `f32(philox(vec4(position, 0u, 1u, ${filter}u), options.seed).x) * 0x1p-32`,
    multiply: (a, b) => `((${a}) * (${b}))`,
    ln: (value) => `ln(${value})`,
    atLeast: (a, b) => `((${a}) >= (${b}))`,
    not: (condition) => `!(${condition})`,
  };
}

/** A snippet with these filters. */
export function filtersSnippet(filters: readonly Filter[]): string {
  const variables = filters.flatMap(({ totals }, index) => [
    `var<private> filter_${index}: bool;`,
    ...totals.map((_, total) => `var<private> total_${index}_${total}: f32;`),
  ]);
  const namesOf = (index: number) =>
    filters[index]!.totals.map((_, total) => `total_${index}_${total}`);
  const keep = (count: number) =>
    filters.slice(0, count).map(({ keeps }, index) =>
      ` && (!filter_${index} || ${keeps(arithmetic(index), "relative", namesOf(index))})`
    ).join("");
  const prepared = filters.map(({ isOn, totals }, index) => {
    const m = arithmetic(index);
    const steps = totals.map((total, number) =>
      stepOf(total, m, namesOf(index), number, `is_kept(item, last)${keep(index)}`)
    );
    return `  filter_${index} = ${isOn(m)};\n  if (filter_${index}) {\n${steps.join("")}  }\n`;
  });
  return `${variables.join("\n")}
var<workgroup> total_low: atomic<u32>;
var<workgroup> total_high: atomic<u32>;
var<workgroup> total_shared: vec2<u32>;

fn prepare_filters(
  options: Sampling, place: Place, last: vec2<u32>, position: u32, thread: u32,
) {
${prepared.join("")}}

fn filters_keep(options: Sampling, relative: f32) -> bool {
  return true${keep(filters.length)};
}
`;
}

function stepOf(
  total: Total,
  m: Arithmetic<string, string>,
  names: readonly string[],
  number: number,
  isKept: string,
): string {
  const before = names.slice(0, number);
  if (total.kind === "value") return `    ${names[number]} = ${total.of(m, before)};\n`;
  const add = total.kind === "least"
    ? "atomicMax(&total_low, item.x);"
    : `let mass = mass_of(relative);
        let carry = u32(atomicAdd(&total_low, mass.y) > ~mass.y);
        atomicAdd(&total_high, mass.x + carry);`;
  const value = total.kind === "least"
    ? "relative_logit(total_shared_now.y, place.best_key)"
    : "f32(total_shared_now.x) * 0x1p-13 + f32(total_shared_now.y) * 0x1p-45";
  return `    {
      if (thread == 0u) {
        atomicStore(&total_low, 0u);
        atomicStore(&total_high, 0u);
      }
      workgroupBarrier();
      for (var at = thread; at < place.size; at += WORKGROUP) {
        let item = entry(place, at);
        let relative = relative_logit(item.x, place.best_key);
        if (${isKept} && ${total.of(m, "relative", before)}) {
        ${add}
        }
      }
      workgroupBarrier();
      if (thread == 0u) {
        total_shared = vec2(atomicLoad(&total_high), atomicLoad(&total_low));
      }
      let total_shared_now = workgroupUniformLoad(&total_shared);
      ${names[number]} = ${value};
    }
`;
}

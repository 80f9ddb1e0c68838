// Subgroup matrices on drivers that have none: a kernel in which loads, products and stores of
// matrices are plain loops. A factor is where it is in workgroup memory; of a sum each invocation of
// the subgroup has some elements. All else of a kernel stays as it is: what is staged where, and
// which subgroup multiplies it.

/** The WGSL types of matrices, and which of M, N and K are the rows and columns of each. */
const KINDS = {
  left: { rows: "M", columns: "K" },
  right: { rows: "K", columns: "N" },
  result: { rows: "M", columns: "N" },
} as const;

const ALIAS = /\balias (\w+) = subgroup_matrix_(left|right|result)<\w+, (\w+), (\w+)>;/g;

const LOAD = /\bsubgroupMatrixLoad<(\w+), (row|col)_major>\(\s*&(\w+),/g;

const STORE = /\bsubgroupMatrixStore<(row|col)_major>\(&(\w+), (\w+), (\w+)\[(\w+)\], (\w+)\)/g;

/**
 * The code of a kernel without subgroup matrices and f16, for workgroups that consist of subgroups of
 * `size` neighbouring invocations.
 * @throws RangeError for types of which this knows nothing
 */
export function withMatricesOf(size: number, code: string): string {
  if (!code.includes("subgroup_matrix_")) return code;
  const types = new Map<string, keyof typeof KINDS>();
  const stores = new Map<string, string>();
  const factors = new Set<string>();
  const nameOf = (kind: keyof typeof KINDS) => [...types].find(([, of]) => of === kind)![0];
  const [M, N] = ["M", "N"].map((name) =>
    Number(new RegExp(`\\bconst ${name} = (\\d+)u;`).exec(code)?.[1])
  );
  const half = /\balias Element = f16;/.test(code);
  const plain = code
    .replaceAll(/^enable \w+;\n/gm, "")
    .replace("alias Element = f16;", "alias Element = f32;")
    // Rounded as f16 is.
    .replaceAll("vec4<Element>(", half ? "quantizeToF16(" : "(")
    .replace(/ *@builtin\(subgroup_id\) subgroup: u32,\n/, "")
    .replace(
      /\bfn main\([^{]*\) \{\n/,
      `$&  let subgroup = thread / PRETENDED_SIZE;\n  pretended_lane = thread % PRETENDED_SIZE;\n`,
    )
    .replaceAll(ALIAS, (_, name, kind: keyof typeof KINDS, columns, rows) => {
      if (KINDS[kind].rows !== rows || KINDS[kind].columns !== columns) {
        throw new RangeError(`Cannot pretend ${name}: its sizes are in another order`);
      }
      types.set(name, kind);
      return kind === "result"
        ? `alias ${name} = array<f32, ${M * N / size}>;`
        : `struct ${name} { at: u32, stride: u32 }`;
    })
    .replaceAll(LOAD, (_, type, major, memory) => {
      factors.add(`${types.get(type)} ${memory} ${major}`);
      return `${type}(`;
    })
    .replaceAll(STORE, (_, major, memory, at, matrices, index, stride) => {
      const name = `pretended_store_${memory}`;
      const place = major === "row" ? "i * stride + j" : "j * stride + i";
      stores.set(name, storeOf(name, memory, place, nameOf("result")));
      return `${name}(${at}, &${matrices}, ${index}, ${stride})`;
    })
    .replaceAll(
      /(\w+)\[(\w+)\] = subgroupMatrixMultiplyAccumulate\(([^,]+), ([^,]+), \1\[\2\]\)/g,
      "pretended_multiply(&$1, $2, $3.at, $3.stride, $4.at, $4.stride)",
    );
  if (/subgroup_?[mM]atrix/.test(plain)) {
    throw new RangeError("Cannot pretend subgroup matrices: not all of their uses are replaced");
  }
  const [left, right, ...others] = [...factors].sort().map((factor) => factor.split(" "));
  if (others.length > 0 || left?.[2] !== "row" || right?.[2] !== "col") {
    throw new RangeError(`Cannot pretend subgroup matrices: loads of ${[...factors]}`);
  }
  const sums = nameOf("result");
  return `${plain}
const PRETENDED_SIZE = ${size}u;
var<private> pretended_lane: u32;
${[...stores.values()].join("")}
fn pretended_multiply(
  sums: ptr<function, array<${sums}, ROW_BLOCKS * TOKEN_BLOCKS>>, matrix: u32,
  left: u32, left_stride: u32, right: u32, right_stride: u32,
) {
  // A number that the driver does not know: it would unroll these loops, and compile for minutes.
  let most = select(M * N / PRETENDED_SIZE, 0u, params.groups == 0u);
  for (var e = 0u; e < most; e++) {
    let i = (e * PRETENDED_SIZE + pretended_lane) / N;
    let j = (e * PRETENDED_SIZE + pretended_lane) % N;
    var sum = 0.0;
    for (var k = 0u; k < select(K, 0u, params.groups == 0u); k++) {
      sum += ${left[1]}[left + i * left_stride + k] * ${right[1]}[right + j * right_stride + k];
    }
    (*sums)[matrix][e] += sum;
  }
}
`;
}

function storeOf(name: string, memory: string, place: string, sums: string): string {
  return `
fn ${name}(at: u32, sums: ptr<function, array<${sums}, ROW_BLOCKS * TOKEN_BLOCKS>>, matrix: u32, stride: u32) {
  // A number that the driver does not know: it would unroll these loops, and compile for minutes.
  let most = select(M * N / PRETENDED_SIZE, 0u, params.groups == 0u);
  for (var e = 0u; e < most; e++) {
    let i = (e * PRETENDED_SIZE + pretended_lane) / N;
    let j = (e * PRETENDED_SIZE + pretended_lane) % N;
    ${memory}[at + ${place}] = (*sums)[matrix][e];
  }
}
`;
}

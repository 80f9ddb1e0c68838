// Rotary frequencies against values worked out by hand from the papers' formulas, and the tables of
// unit vectors against the angle in double precision.

import { assert, assertEquals } from "@std/assert";
import {
  LOW_POSITIONS,
  ropeFrequencies,
  type RopeOptions,
  ropeTable,
  yarnLength,
} from "../../kernels/mod.ts";
import { assertClose, relative, ULP } from "./close.ts";

/** Rounding of a few operations in doubles, and of the constants below, in 15 digits. */
const DOUBLE = 1e-14 / ULP;

function assertFrequencies(options: RopeOptions, expected: number[]) {
  const { frequencies } = ropeFrequencies(options);
  assertClose(frequencies, expected, relative(expected, DOUBLE));
}

Deno.test("ropeFrequencies() are powers of the base", () => {
  assertFrequencies({ rotary: 8, base: 10000 }, [1, 0.1, 0.01, 0.001]);
  assertEquals(ropeFrequencies({ rotary: 8, base: 10000 }).length, 1);
});

Deno.test("ropeFrequencies() are divided by the factor of linear scaling", () => {
  const options = { rotary: 8, base: 10000, scaling: "linear", factor: 4 } as const;
  assertFrequencies(options, [0.25, 0.025, 0.0025, 0.00025]);
  assertFrequencies({ ...options, scaling: "none" }, [1, 0.1, 0.01, 0.001]);
  assertFrequencies({ ...options, factor: 0 }, [1, 0.1, 0.01, 0.001]);
});

Deno.test("ropeFrequencies() are divided by the factors of the file", () => {
  // As llama3's tensor has them: short waves stay, long ones are stretched 8 times.
  const frequencyFactors = Float32Array.of(1, 1, 2.5, 8);
  assertFrequencies({ rotary: 8, base: 10000, frequencyFactors }, [1, 0.1, 0.004, 0.000125]);
});

Deno.test("ropeFrequencies() ramp from extrapolation to interpolation with YaRN", () => {
  // Pair i turns 4096 / (2 pi 10^i) times over the original context: 652, 65.2, 6.52 and 0.652.
  // 32 turns are reached at pair 1.31, which rounds down to 1, one turn at 2.81, up to 3. So pairs
  // 0 and 1 stay, pair 3 is stretched 4 times, pair 2 half way: 0.01 * (1/2 + 1/2 / 4).
  const options = {
    rotary: 8,
    base: 10000,
    scaling: "yarn",
    factor: 4,
    originalContext: 4096,
  } as const;
  assertFrequencies(options, [1, 0.1, 0.00625, 0.00025]);
  const { length } = ropeFrequencies(options);
  assertClose([length], [1.138629436111989], () => 1e-15); // 1 + 0.1 ln 4
  // Without extrapolation all pairs are stretched, and lengths stay.
  const plain = { ...options, extensionFactor: 0, attentionFactor: 0.5 };
  assertFrequencies(plain, [0.25, 0.025, 0.0025, 0.00025]);
  assertEquals(ropeFrequencies(plain).length, 0.5);
});

Deno.test("ropeFrequencies() give YaRN's vectors the length that its multipliers ask for", () => {
  const options = { rotary: 8, base: 10000, scaling: "yarn", originalContext: 4096 } as const;
  const length = (more: Partial<RopeOptions>) => ropeFrequencies({ ...options, ...more }).length;
  // As DeepSeek-V2 has them, equal: the length is left to the scale of the scores.
  const equal = { factor: 40, lengthMultiplier: 0.707, scoreMultiplier: 0.707 };
  assertEquals(length(equal), 1);
  assertEquals(length({ ...equal, attentionFactor: 3 }), 3);
  // ln 40 = 3.688879454113936: 1.3688879 over 1 + 0.1 * 0.5 * 3.6888795 = 1.1844440.
  const half = length({ factor: 40, scoreMultiplier: 0.5 });
  assertClose([half], [1.3688879454113936 / 1.1844439727056968], () => 1e-15);
  assertClose([yarnLength(40, 0.5)], [1.1844439727056968], () => 1e-15);
  // A context that is not stretched makes nothing longer.
  assertEquals(length({ factor: 0 }), 1);
  assertEquals(length({ factor: 0.5 }), 1);
});

Deno.test("ropeFrequencies() rotate what three sections of a text's position have", () => {
  const rope = { rotary: 12, base: 10 ** 6 }; // frequencies 1, 0.1, ...
  const turned = (options: Partial<RopeOptions>) =>
    [...ropeFrequencies({ ...rope, ...options }).frequencies].map((frequency) => frequency > 0);
  assertFrequencies({ ...rope, sections: [1, 2, 3, 0] }, [1, 0.1, 0.01, 1e-3, 1e-4, 1e-5]);
  assertEquals(turned({ sections: [1, 1, 1, 2] }), [true, true, true, false, false, true]);
  // Taking turns, pairs 0 and 3 are time's, 1 and 4 height's, 2 and 5 width's, while they have any.
  const interleaved = true;
  assertFrequencies(
    { ...rope, sections: [2, 2, 2, 0], interleaved },
    [1, 0.1, 0.01, 1e-3, 1e-4, 1e-5],
  );
  assertEquals(
    turned({ sections: [3, 2, 1, 0], interleaved }),
    [true, true, true, true, true, false],
  );
});

Deno.test("ropeTable() leaves pairs alone whose divisor is 1e30", () => {
  const frequencyFactors = Float32Array.of(1, 1e30);
  for (const scaling of ["none", "yarn"] as const) {
    const yarn = { scaling, factor: 1, originalContext: 64 };
    const table = ropeTable({ rotary: 4, base: 10000, frequencyFactors, ...yarn }, 1000);
    for (let at = 2; at < table.length; at += 4) {
      assertEquals([...table.subarray(at, at + 2)], [1, 0]);
    }
  }
});

/** The largest distance of the tables' vector from the true one, over positions and pairs. */
function worstError(options: RopeOptions, positions: number[]): number {
  const { frequencies, length } = ropeFrequencies(options);
  const pairs = frequencies.length;
  const table = ropeTable(options, Math.max(...positions) + 1);
  const [low, high] = [table, table.subarray(2 * LOW_POSITIONS * pairs)];
  let worst = 0;
  for (const position of positions) {
    for (let pair = 0; pair < pairs; pair++) {
      const a = 2 * ((position % LOW_POSITIONS) * pairs + pair);
      const b = 2 * (Math.floor(position / LOW_POSITIONS) * pairs + pair);
      const x = low[a] * high[b] - low[a + 1] * high[b + 1];
      const y = low[a] * high[b + 1] + low[a + 1] * high[b];
      const angle = position * frequencies[pair];
      const error = Math.hypot(x - length * Math.cos(angle), y - length * Math.sin(angle));
      worst = Math.max(worst, error / length);
    }
  }
  return worst;
}

Deno.test("ropeTable() gives the rotation of positions up to 100,000 within 2e-7", () => {
  const positions = [0, 1, 255, 256, 257, 4095, 8192, 65535, 65536, 99999, 100000];
  // Four entries are rounded to f32, each by at most 2^-25 of the vector's length.
  const llama = { rotary: 128, base: 500000 };
  const yarn = { ...llama, scaling: "yarn", factor: 16, originalContext: 8192 } as const;
  for (const options of [llama, yarn]) {
    const error = worstError(options, positions);
    assert(error <= 2e-7, `error ${error}`);
  }
});

Deno.test("ropeTable() has a row for the last position of any context", () => {
  for (const context of [1, 255, 256, 257, 1000]) {
    const table = ropeTable({ rotary: 4, base: 10000 }, context);
    assertEquals(table.length, (LOW_POSITIONS + Math.ceil(context / LOW_POSITIONS)) * 2 * 2);
  }
});

// What may be chosen for a kernel on each profile, and for which kernels a choice holds. How choices come
// about is for tuning_test.ts.

import { assert, assertEquals } from "@std/assert";
import { keyOf, typesOf } from "../../kernels/mod.ts";
import {
  chooseTile,
  columnsOf,
  pairColumns,
  tileFault,
  tileName,
} from "../../kernels/webgpu/mod.ts";
import {
  attentionWays,
  columnsName,
  expertTiles,
  pairColumnsNear,
  productTiles,
} from "../../kernels/webgpu/candidates.ts";
import { TuningChoices } from "../../kernels/webgpu/choices.ts";
import { deviceProfile, profileNamed, PROFILES } from "../profiles.ts";
import { EXPERTS, PRODUCT } from "./tuning_case.ts";

Deno.test("the tiles that are timed are without fault on every profile, the usual one first", () => {
  for (const profile of PROFILES) {
    const device = deviceProfile(profile);
    for (const sides of [1, 2] as const) {
      for (const quantized of [false, true]) {
        for (const tokens of [1, 2, 4, 8, 16, 256]) {
          const product = { ...PRODUCT, sides, quantized, tokens };
          const tiles = productTiles(device, product);
          const what = JSON.stringify([profile.name, sides, quantized, tokens, tiles]);
          assertEquals(tiles[0], chooseTile(device, tokens, product), what);
          assert(tiles.every((tile) => tileFault(device, tile, product) === undefined), what);
          assertEquals(new Set(tiles.map(tileName)).size, tiles.length, what);
          assert(tiles.length <= 14, what);
        }
      }
    }
  }
});

Deno.test("the tiles of experts that are timed are as wide as those of pairs, on every profile", () => {
  for (const profile of PROFILES) {
    const device = deviceProfile(profile);
    for (const density of [1, 2, 4, 8, 16, 256]) {
      const columns = pairColumnsNear(device, density);
      assertEquals(columns[0], pairColumns(device, density));
      assertEquals(new Set(columns).size, columns.length);
      for (const cols of columns) {
        for (const sides of [1, 2] as const) {
          for (const quantized of [false, true]) {
            for (const integer of [false, true]) {
              const product = { ...EXPERTS, integer, sides, quantized, density, cols };
              const tiles = expertTiles(device, product);
              const what = JSON.stringify([profile.name, product, tiles]);
              assert(tiles.every((tile) => columnsOf(tile) === cols), what);
              assert(tiles.every((tile) => tileFault(device, tile, product) === undefined), what);
              assertEquals(new Set(tiles.map(tileName)).size, tiles.length, what);
              if (cols !== columns[0]) continue;
              assertEquals(tiles[0], chooseTile(device, density, { ...product, cols }), what);
            }
          }
        }
      }
    }
  }
});

Deno.test("there is a choice of tiles and of ways to attend on every GPU", () => {
  const shape = { heads: 32, kvHeads: 8, headDim: 128, ...typesOf("f16") };
  for (const profile of PROFILES.filter(({ software }) => !software)) {
    const device = deviceProfile(profile);
    for (const tokens of [1, 8, 256]) {
      assert(productTiles(device, { ...PRODUCT, tokens }).length > 2, profile.name);
    }
    for (const density of [1, 8]) {
      const cols = pairColumns(device, density);
      assert(expertTiles(device, { ...EXPERTS, density, cols }).length > 2, profile.name);
    }
    assertEquals(pairColumnsNear(device, 1), [1]);
    assert(pairColumnsNear(device, 16).length > 1, profile.name);
    assert(attentionWays(device, shape).length > 4, profile.name);
  }
});

Deno.test("a choice holds for the numbers of tokens of its class, until it is taken back", () => {
  const device = deviceProfile(profileNamed("subgroups of 32,32, 32 KiB"));
  const choices = new TuningChoices(device);
  const tokens = 16;
  const product = { ...PRODUCT, tokens };
  const usual = chooseTile(device, tokens, product);
  const other = productTiles(device, product)[1]!;
  choices.choose(product, tileName(other));
  for (const some of [9, 16, 32]) assertEquals(choices.tile(PRODUCT, some), other);
  assertEquals(choices.tile(PRODUCT, 8), chooseTile(device, 8, PRODUCT));
  assertEquals(choices.tile(PRODUCT, 33), chooseTile(device, 33, PRODUCT));
  assertEquals(choices.tile({ ...PRODUCT, rows: 32 }, 16), usual);
  choices.choose(product, "a tile that there is not");
  assertEquals(choices.tile(PRODUCT, 16), usual);
});

Deno.test("a choice for experts holds for the densities of its class and the width of tiles", () => {
  const device = deviceProfile(profileNamed("subgroups of 32,32, 32 KiB"));
  const choices = new TuningChoices(device);
  const experts = { ...EXPERTS, density: 16, cols: 8 };
  const other = expertTiles(device, experts)[1]!;
  choices.choose(experts, tileName(other));
  for (const density of [9, 16, 32]) {
    assertEquals(choices.expertTile(EXPERTS, density, 8), other);
  }
  const usual = (cols: number) => chooseTile(device, cols, { ...EXPERTS, cols });
  assertEquals(choices.expertTile(EXPERTS, 8, 8), usual(8));
  assertEquals(choices.expertTile(EXPERTS, 16, 4), usual(4));
  assertEquals(choices.expertTile(EXPERTS, 64, 64), usual(64));
  assertEquals(choices.expertTile({ ...EXPERTS, topK: 4 }, 16, 8), usual(8));
  // Nor does it hold for products that are not of experts.
  assertEquals(choices.tile(PRODUCT, 16), chooseTile(device, 16, PRODUCT));
});

Deno.test("the product with the most weights of a mixture decides how wide the tiles of pairs are", () => {
  const device = deviceProfile(profileNamed("subgroups of 32,32, 32 KiB"));
  const choices = new TuningChoices(device);
  const { cols: _, ...down } = EXPERTS;
  const gated = { ...down, sides: 2, quantized: true, perPair: false } as const;
  for (const shape of [down, gated, down]) choices.noteExperts(shape);
  for (const shape of [down, gated]) choices.prepareExperts(shape, 16);
  const kernels = () => choices.bound().map(({ kernel }) => kernel);
  const pairs = kernels().filter(({ kernel }) => kernel === "expert pairs");
  const ofPairs = (density: number) => ({ ...gated, kernel: "expert pairs", density }) as const;
  assertEquals(pairs.map(keyOf), [1, 2, 4, 8, 16].map((density) => keyOf(ofPairs(density))));
  const before = choices.version;
  choices.choose(ofPairs(16), columnsName(64));
  assert(choices.version > before);
  assertEquals([1, 8, 9, 32, 33].map((density) => choices.pairColumns(EXPERTS, density)), [
    ...[1, 8, 64, 64, 64],
  ]);
  assertEquals(choices.pairColumns({ experts: 64, topK: 8 }, 16), 8);
  const wide = kernels().filter((kernel) => kernel.kernel === "experts" && kernel.cols === 64);
  assertEquals(wide.map(keyOf), [
    keyOf({ ...EXPERTS, density: 16, cols: 64 }),
    keyOf({ ...EXPERTS, ...gated, density: 16, cols: 64 }),
  ]);
  choices.choose(ofPairs(16), columnsName(3));
  assertEquals(choices.pairColumns(EXPERTS, 16), 8);
});

// Blocks known by what they hold: which beginning is found, and which blocks go to make room.

import { Checkpoints } from "../../../engine/run/checkpoints.ts";
import { BlockPool, PrefixCache } from "../../../engine/run/block_pool.ts";
import { assertEquals } from "@std/assert";

/** Takes blocks for tokens, makes them known and gives them back. */
function keep(pool: BlockPool, cache: PrefixCache, tokens: number[]): number[] {
  const known = cache.match(tokens);
  pool.share(known);
  const blocks = [...known, ...pool.take(tokens.length / cache.blockSize - known.length)!];
  for (let i = known.length; i < blocks.length; i++) {
    cache.add(
      blocks[i - 1],
      tokens.slice(i * cache.blockSize, (i + 1) * cache.blockSize),
      blocks[i],
    );
  }
  pool.give(blocks);
  return blocks;
}

function start(size: number) {
  const cache = new PrefixCache(2);
  return { cache, pool: new BlockPool(size, cache, new Checkpoints(0, 2, 100)) };
}

Deno.test("match() finds the longest chain of full blocks, and no others with the same tokens", () => {
  const { cache, pool } = start(8);
  const [a, b, c] = keep(pool, cache, [1, 2, 3, 4, 5, 6]);
  assertEquals(cache.match([1, 2, 3, 4, 5, 6, 7, 8]), [a, b, c]);
  assertEquals(cache.match([1, 2, 3, 4, 5]), [a, b]);
  assertEquals(cache.match([1, 2, 9, 4, 5, 6]), [a]);
  assertEquals(cache.match([3, 4, 5, 6]), []);
  assertEquals(cache.match([1]), []);
  assertEquals(cache.match([]), []);
});

Deno.test("tokens that read alike when written together are told apart", () => {
  const { cache, pool } = start(8);
  keep(pool, cache, [1, 23, 4, 56]);
  assertEquals(cache.match([12, 3]), []);
  assertEquals(cache.match([1, 23, 45, 6]).length, 1);
});

Deno.test("what was used least recently goes first, and of a chain its end", () => {
  const { cache, pool } = start(6);
  const first = [1, 2, 3, 4, 5, 6];
  const second = [7, 8, 9, 10];
  keep(pool, cache, first);
  keep(pool, cache, second);
  keep(pool, cache, [1, 2]); // the beginning of the first is used again, its end is not
  assertEquals(pool.counts, { free: 1, idle: 5, used: 0 });
  const lengths = () => [first, second].map((tokens) => cache.match(tokens).length);
  const left = [];
  for (let i = 0; i < 6; i++) {
    pool.take(1);
    left.push(lengths());
  }
  assertEquals(left, [[3, 2], [2, 2], [1, 2], [1, 1], [1, 0], [0, 0]]);
  assertEquals(pool.take(1), undefined);
  assertEquals(pool.counts, { free: 0, idle: 0, used: 6 });
});

Deno.test("a chain that somebody has is not touched, however much room is wanted", () => {
  const { cache, pool } = start(6);
  keep(pool, cache, [1, 2, 3, 4]);
  keep(pool, cache, [1, 2, 5, 6]);
  pool.share(cache.match([1, 2, 3, 4]));
  assertEquals(pool.available, 4);
  assertEquals(pool.take(5), undefined);
  assertEquals(cache.match([1, 2, 5, 6]).length, 2, "a refusal costs nobody anything");
  assertEquals(pool.take(4)?.length, 4);
  assertEquals(cache.match([1, 2, 3, 4]).length, 2);
  assertEquals(cache.match([1, 2, 5, 6]).length, 1);
});

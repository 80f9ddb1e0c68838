// Blocks in memory: which of them go when there is no room, and what a model in another thread sees.

import {
  type FromStore,
  MemoryStore,
  MirroredStore,
  MirrorHost,
  RemoteStore,
  type StoredBlock,
  type ToStore,
} from "../../../engine/block_store/mod.ts";
import { assertEquals } from "@std/assert";

const block = (bytes: number): StoredBlock => ({ cached: new Uint8Array(bytes) });

Deno.test("what was used longest ago goes, of whatever model", () => {
  const store = new MemoryStore(300);
  const [one, two] = [store.open("one"), store.open("two")];
  one.put("a", block(100));
  two.put("b", block(100));
  one.put("c", block(100));
  one.touch(["a"]);
  two.put("d", block(100));
  assertEquals(["a", "b", "c", "d"].map((name) => Boolean(store.get(name))), [
    true,
    false,
    true,
    true,
  ]);
  one.put("a", block(250));
  assertEquals([store.bytes, store.count], [250, 1]);
  one.put("e", block(400));
  assertEquals([store.bytes, store.count], [0, 0]);
});

Deno.test("where the system is short of memory, fewer bytes are kept", () => {
  const MIB = 2 ** 20;
  const system = { available: 1000 * MIB, total: 1600 * MIB };
  const store = new MemoryStore(500 * MIB, () => system);
  const names = Array.from({ length: 8 }, (_, i) => `${i}`);
  // A view of few bytes that says it has many: nothing of it is read.
  const large = { cached: { length: 40 * MIB } as Uint8Array };
  for (const name of names.slice(0, 4)) store.put("one", name, large);
  assertEquals(store.count, 4);
  system.available = 60 * MIB; // of which 100 are to be left free
  for (const name of names.slice(4)) store.put("one", name, large);
  assertEquals(store.bytes < 300 * MIB, true);
});

Deno.test("a model in another thread sees what an earlier one left, and hears what is dropped", () => {
  const store = new MemoryStore(300);
  const connect = () => {
    const hosts: MirrorHost[] = [];
    const mirror: MirroredStore = new MirroredStore((message) => hosts[0]!.receive(message));
    hosts.push(new MirrorHost(store, (message: FromStore) => mirror.receive(message)));
    return { mirror, host: hosts[0]! };
  };
  const first = connect();
  const blocks = first.mirror.open("one");
  blocks.put("a", block(100));
  blocks.put("b", block(100));
  blocks.touch(["a"]);
  blocks.close();
  first.host[Symbol.dispose]();

  const second = connect();
  const again = second.mirror.open("one");
  assertEquals([again.get("a")?.cached.length, again.get("b")?.cached.length], [100, 100]);
  store.put("two", "c", block(150));
  assertEquals([again.get("a")?.cached.length, again.get("b")], [100, undefined]);
  const stranger = connect().mirror.open("two");
  assertEquals([stranger.get("c")?.cached.length, stranger.get("a")], [150, undefined]);
});

Deno.test("models in processes of their own share the limit of the store, and give their part back", () => {
  const store = new MemoryStore(300);
  const connect = () => {
    const hosts: MirrorHost[] = [];
    const send = (message: ToStore) => hosts[0]!.receive(message);
    const remote = new RemoteStore(send);
    hosts.push(new MirrorHost(store, (message: FromStore) => remote.receive(message)));
    return { blocks: remote.open("one"), host: hosts[0]! };
  };
  const [first, second] = [connect(), connect()];
  first.blocks.put("a", block(100));
  first.blocks.put("b", block(100));
  store.put("one", "a", block(50)); // in this process, of the same model
  first.blocks.touch(["a"]);
  second.blocks.put("a", block(120));
  const there = [first, second].map(({ blocks }) =>
    ["a", "b"].map((name) => blocks.get(name)?.cached.length)
  );
  assertEquals(there, [[100, undefined], [120, undefined]]);
  assertEquals([store.bytes, store.count, store.blocksOf("one").length], [270, 3, 1]);
  first.host[Symbol.dispose]();
  first.blocks.put("c", block(100)); // on its way when the process ended
  assertEquals([store.bytes, store.count], [170, 2]);
  store.put("one", "d", block(200));
  assertEquals([second.blocks.get("a")?.cached.length, store.bytes], [undefined, 200]);
});

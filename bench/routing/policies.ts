// Ways to choose a node, as routers that exist have them: in turns, the shorter of two queues (Ray
// Serve's default), by conversation (nginx's and Envoy's consistent hashing), by what was sent where with
// a bound on imbalance (Ray's PrefixCacheAffinityRouter, SGLang's router), and by what nodes really hold
// beside their load (llm-d's precise scorer, Dynamo's router).

import { blocksOf, type Node, type Policy } from "./cluster.ts";
import { Draws } from "./trace.ts";

/** A policy by name; each has a state of its own. */
export const POLICIES: Record<string, () => Policy> = {
  "in turns": () => (nodes, _, index) => nodes[index % nodes.length]!,

  "shorter of two queues": () => {
    const draws = new Draws(1);
    return (nodes) => {
      const [one, other] = [draws, draws].map((each) =>
        nodes[Math.floor(each.next() * nodes.length)]!
      );
      return one!.load <= other!.load ? one! : other!;
    };
  },

  "by conversation": () => (nodes, { conversation }) => nodes[hash(conversation) % nodes.length]!,

  "by prefix, as sent": () => {
    /** Blocks that were sent to each node; of nodes' evictions it knows nothing. */
    const sent = new Map<Node, Set<string>>();
    return (nodes, arrival) => {
      const blocks = blocksOf(arrival.pieces);
      const loads = nodes.map(({ load }) => load);
      const isBalanced = Math.max(...loads) - Math.min(...loads) <= 8;
      const matched = (node: Node) => {
        const known = sent.get(node);
        const missing = blocks.findIndex((block) => !known?.has(block));
        return missing < 0 ? blocks.length : missing;
      };
      const best = isBalanced ? greatest(nodes, matched) : least(nodes);
      const isMatch = matched(best) >= 0.1 * blocks.length;
      const node = isBalanced && !isMatch ? least(nodes) : best;
      const known = sent.get(node) ?? new Set();
      sent.set(node, known);
      for (const block of blocks) known.add(block);
      return node;
    };
  },

  "by prefix and load, as held": () => (nodes, arrival) => {
    const blocks = blocksOf(arrival.pieces);
    // What is left to read, and a share of the node for what it does already, both in seconds.
    return greatest(nodes, (node) => {
      const { prefill, step, slots } = node.kind;
      const reading = (blocks.length - node.match(blocks)) * 16 / prefill;
      const queued = Math.max(0, node.load + 1 - slots) * step * arrival.answer.length / slots;
      return -(reading + queued + node.load * step * arrival.answer.length * 0.02);
    });
  },
};

function greatest(nodes: readonly Node[], score: (node: Node) => number): Node {
  const scores = nodes.map(score);
  const most = Math.max(...scores);
  return least(nodes.filter((_, i) => scores[i] === most));
}

function least(nodes: readonly Node[]): Node {
  return nodes.reduce((first, node) => node.load < first.load ? node : first);
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) {
    value = Math.imul(value ^ character.charCodeAt(0), 0x01000193) >>> 0;
  }
  return value;
}

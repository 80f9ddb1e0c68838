// The messages of a session as a tree: each has the message before it, and a conversation is the way from
// the first one to the head. Nothing is changed or removed, so that branches stay. Saved as plain JSON.

import { RequestError } from "../errors.ts";
import type { ChatMessage } from "../types/mod.ts";

/** A message in the tree. */
export interface HistoryNode {
  /** Its name in this session. */
  readonly id: string;
  /** The message before it; missing for the first of a conversation. */
  readonly parent?: string;
  /** The message. */
  readonly message: ChatMessage;
}

/** A session as JSON. Pictures are base64. */
export interface SavedSession {
  /** Tells it from other files. */
  readonly format: "quern.session";
  /** Version of the format. */
  readonly version: 1;
  /** The system prompt, if there is one. */
  readonly system?: string;
  /** The last message of the conversation; missing: it has none. */
  readonly head?: string;
  /** All messages of all branches, each after the one before it. */
  readonly nodes: readonly HistoryNode[];
}

const ROLES: readonly unknown[] = ["system", "user", "assistant", "tool"];

/** The tree, and where in it the conversation is. */
export class History {
  readonly #nodes = new Map<string, HistoryNode>();
  #head: string | undefined;

  /** The last message of the conversation; undefined: it has none. */
  get head(): string | undefined {
    return this.#head;
  }

  /** All messages of all branches, in the order in which they came. */
  get nodes(): readonly HistoryNode[] {
    return [...this.#nodes.values()];
  }

  /** The messages of the conversation. */
  get messages(): ChatMessage[] {
    return this.path.map(({ message }) => message);
  }

  /** The conversation, from the first message to the head. */
  get path(): HistoryNode[] {
    const path: HistoryNode[] = [];
    for (let id = this.#head; id !== undefined; id = path.at(-1)!.parent) {
      path.push(this.#nodes.get(id)!);
    }
    return path.reverse();
  }

  /** Adds messages behind the head, which is the last of them then. */
  append(messages: readonly ChatMessage[]): void {
    for (const message of messages) {
      const id = `m${this.#nodes.size + 1}`;
      this.#nodes.set(id, { id, ...(this.#head && { parent: this.#head }), message });
      this.#head = id;
    }
  }

  /**
   * Moves the head: the conversation goes on behind that message.
   *
   * @param id undefined: before the first message
   * @throws {RequestError} if there is no such message
   */
  goTo(id: string | undefined): void {
    if (id !== undefined && !this.#nodes.has(id)) {
      throw new RequestError(`Cannot go to the message "${id}": the session has none of this id`);
    }
    this.#head = id;
  }

  /** A copy, which goes its own way. */
  copy(): History {
    const copy = new History();
    for (const node of this.nodes) copy.#nodes.set(node.id, node);
    copy.#head = this.#head;
    return copy;
  }

  /** As JSON. */
  save(): Pick<SavedSession, "head" | "nodes"> {
    const nodes = this.nodes.map(({ message, ...node }) => ({
      ...node,
      message: structuredClone({
        ...message,
        ...(message.images && { images: message.images.map(toText) }),
        ...(message.audio && { audio: message.audio.map(toText) }),
      }),
    }));
    return { ...(this.#head !== undefined && { head: this.#head }), nodes };
  }

  /**
   * The tree of a saved session.
   *
   * @throws {RequestError} for what is no such session, naming the member
   */
  static load(saved: SavedSession): History {
    const fail = (state: string) => new RequestError(`Cannot load the session: ${state}`);
    if (saved?.format !== "quern.session") throw fail(`its format is not "quern.session"`);
    if (saved.version !== 1) {
      throw fail(`its version is ${saved.version}, this program reads version 1`);
    }
    if (!Array.isArray(saved.nodes)) throw fail("nodes is no list");
    const history = new History();
    for (const [index, node] of saved.nodes.entries()) {
      const { id, parent, message } = node ?? {};
      // Ids are counted, so that those of later messages are new.
      if (id !== `m${index + 1}`) throw fail(`nodes[${index}].id is not "m${index + 1}"`);
      if (parent !== undefined && !history.#nodes.has(parent)) {
        throw fail(`nodes[${index}].parent is no message before it`);
      }
      if (!ROLES.includes(message?.role) || typeof message.content !== "string") {
        throw fail(`nodes[${index}].message is none: it needs a role and a content of text`);
      }
      history.#nodes.set(id, structuredClone(node));
    }
    if (saved.head !== undefined && !history.#nodes.has(saved.head)) {
      throw fail("head is none of its messages");
    }
    history.#head = saved.head;
    return history;
  }
}

/** A picture as base64. Browsers before 2025 have no Uint8Array.toBase64(). */
function toText(image: Uint8Array | string): string {
  if (typeof image === "string") return image;
  let bytes = "";
  for (const byte of image) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

// The kept responses and conversations as one request of /v1/responses or /v1/conversations uses them:
// it finds what it continues and the items that it refers to, its own response is kept, and what was
// said is added to its conversation. Errors say why something is not kept and what to do.

import { TimeSlice } from "../../../../../engine/mod.ts";
import { joinBytes } from "../../../../bytes.ts";
import type { BodyAllowance } from "../../../body/bodies.ts";
import type { AppDependencies } from "../../../app_types.ts";
import { HttpError, INSUFFICIENT_STORAGE, sentenceOf } from "../../../errors.ts";
import { parseBytes } from "../../../body/json_body.ts";
import { ResponseStore } from "../../../response_store.ts";
import { refusal } from "../errors.ts";
import {
  conversationOf,
  fromConversationId,
  fromResponseId,
  isReference,
  responseOfItem,
  toConversationId,
  toResponseId,
} from "./kept_items.ts";
import type { KeptItem, WholeResponse } from "./answer_schema.ts";
import type { InputItem, ResponsesBody } from "../schema.ts";

const DAY = 86_400_000;

/** A response as it is kept, with all that went into it. */
interface KeptResponse {
  response: WholeResponse;
  input: KeptItem[];
}

/** A conversation as it is kept. */
export interface KeptConversation {
  /** What the client wants to be kept with it. */
  metadata: Record<string, unknown>;
  items: KeptItem[];
}

/** Whether a response has no end yet, or never had one because its server was stopped. */
export function isUnderWay({ status }: WholeResponse): boolean {
  return status === "queued" || status === "in_progress";
}

/** What to do where something named in a request is not kept, and how its error names that. */
interface Fault {
  advice: string;
  param?: string;
  code?: string;
  isConversation?: true;
}

const NO_CONVERSATION: Fault = {
  advice: "make one with POST /v1/conversations",
  isConversation: true,
};

/** The sources of the kept responses of a request. */
export interface KeptResponsesOptions {
  /** Without one, nothing is kept. */
  store: ResponseStore | undefined;
  /** The API key of the request, or "" where the server asks for none. */
  owner: string;
  /** Kept responses that are read count against it, as a part of the request's body. */
  allowance: BodyAllowance;
}

/** What a request brings of its client. */
interface Requester {
  var: { body: BodyAllowance; apiKey?: string };
}

/** The kept responses, as one request may use them. */
export class KeptResponses {
  readonly #store: ResponseStore | undefined;
  readonly #owner: string;
  readonly #allowance: BodyAllowance;
  readonly #read = new Map<string, KeptResponse>();
  /** The items of a response by their ids. */
  readonly #items = new Map<KeptResponse, Map<string, KeptItem>>();
  /** Bytes of the kept items that the request uses. */
  #taken = 0;

  /** Those of a server, for each of its requests. */
  static of({ responses: store }: AppDependencies) {
    return ({ var: variables }: Requester): KeptResponses => {
      const { body: allowance, apiKey: owner = "" } = variables;
      return new KeptResponses({ store, owner, allowance });
    };
  }

  constructor({ store, owner, allowance }: KeptResponsesOptions) {
    this.#store = store;
    this.#owner = owner;
    this.#allowance = allowance;
  }

  /** @throws {HttpError} 404 if it is not kept, or is another's */
  async find(wireId: string): Promise<KeptResponse> {
    return await this.#find(wireId) ??
      this.#fail(`response '${wireId}'`, fromResponseId(wireId), {
        advice: "make it anew with POST /v1/responses",
      });
  }

  /** @throws {HttpError} 404 if it is not kept, or is another's */
  async delete(wireId: string): Promise<void> {
    const id = fromResponseId(wireId);
    if (id !== undefined && await this.#store?.delete(id, this.#owner)) return;
    this.#fail(`response '${wireId}'`, id, { advice: "there is nothing to delete" });
  }

  /**
   * What came before the request: its conversation, or input and output of the response that it
   * continues.
   *
   * @throws {HttpError} 400 if it names both, 404 if that is not kept, 413 if it is too much
   */
  async earlier(body: ResponsesBody): Promise<KeptItem[]> {
    const wireId = body.previous_response_id;
    const conversation = conversationOf(body);
    if (wireId && conversation) {
      throw new HttpError(
        400,
        "conversation and previous_response_id are mutually exclusive: leave one of them out",
        "conversation",
        "mutually_exclusive_parameters",
      );
    }
    if (!wireId && !conversation) return [];
    const items = wireId
      ? await this.#before(wireId)
      : (await this.conversation(conversation!, { ...NO_CONVERSATION, param: "conversation" }))
        .items;
    const slice = new TimeSlice();
    for (const item of items) {
      this.#take(item);
      if (slice.isOver) await slice.pause();
    }
    return items;
  }

  /** Input and output of a response. */
  async #before(wireId: string): Promise<KeptItem[]> {
    const { input, response } = await this.#find(wireId) ??
      this.#fail(`response '${wireId}'`, fromResponseId(wireId), {
        advice: "send the whole conversation as input",
        param: "previous_response_id",
        code: "previous_response_not_found",
      });
    if (isUnderWay(response)) {
      throw refusal(
        `response '${wireId}' has not ended: wait until its status is "completed"`,
        "previous_response_id",
      );
    }
    return [...input, ...response.output];
  }

  /**
   * The input, in which the kept items replace the references to them.
   *
   * @param member the name of the member that has the input
   * @throws {HttpError} 404 if one is not kept, 413 if they are too much
   */
  async resolved(
    input: ResponsesBody["input"],
    member = "input",
  ): Promise<ResponsesBody["input"]> {
    if (!Array.isArray(input) || !input.some(isReference)) return input;
    const items: InputItem[] = [];
    const slice = new TimeSlice();
    for (const [index, item] of input.entries()) {
      items.push(isReference(item) ? await this.#item(item, `${member}[${index}]`) : item);
      if (slice.isOver) await slice.pause();
    }
    return items;
  }

  /**
   * Keeps a response with all that went into it.
   *
   * @param id the name without its prefix
   * @returns whether it is kept
   */
  async keep(id: string, response: WholeResponse, input: readonly KeptItem[]): Promise<boolean> {
    if (!this.#store) return false;
    return await this.#store.put(id, this.#owner, await encode({ response }, "input", input));
  }

  /**
   * Keeps a conversation.
   *
   * @returns its id
   * @throws {HttpError} 400 if the server keeps none, 507 if it cannot
   */
  async begin({ metadata, items }: KeptConversation): Promise<string> {
    if (!this.#store) {
      throw new HttpError(400, `conversations are not kept here: ${this.#reason(undefined)}`);
    }
    const id = ResponseStore.newId();
    const content = await encode({ metadata }, "items", items);
    checkKept(await this.#store.put(id, this.#conversationOwner, content));
    return toConversationId(id);
  }

  /** @throws {HttpError} 404 if it is not kept, or is another's */
  async conversation(wireId: string, fault = NO_CONVERSATION): Promise<KeptConversation> {
    const id = fromConversationId(wireId);
    const bytes = id && await this.#store?.get(id, this.#conversationOwner);
    if (!bytes) this.#fail(`conversation '${wireId}'`, id, fault);
    return await this.#parse(bytes) as KeptConversation;
  }

  /**
   * Changes a conversation.
   *
   * @param edit changes what it is given
   * @returns the conversation with the change
   * @throws {HttpError} 404 if it is not kept, or is another's, 507 if the change cannot be; what
   *   `edit` throws
   */
  async change(
    wireId: string,
    edit: (conversation: KeptConversation) => void,
  ): Promise<KeptConversation> {
    const id = fromConversationId(wireId);
    let changed: KeptConversation | undefined;
    const isKept = id && await this.#store?.change(id, this.#conversationOwner, async (bytes) => {
      changed = await this.#parse(bytes) as KeptConversation;
      edit(changed);
      return await encode({ metadata: changed.metadata }, "items", changed.items);
    });
    if (!changed) this.#fail(`conversation '${wireId}'`, id, NO_CONVERSATION);
    checkKept(isKept);
    return changed;
  }

  /**
   * Adds what was asked and answered to the conversation of a request, if it has one.
   *
   * @returns the sentence that tells why that could not be
   */
  async append(body: ResponsesBody, items: readonly KeptItem[]): Promise<string | undefined> {
    const wireId = conversationOf(body);
    if (!wireId) return undefined;
    try {
      await this.change(wireId, (conversation) => {
        conversation.items = [...conversation.items, ...items];
      });
    } catch (error) {
      return `conversation: the answer is not added to it: ${sentenceOf(error)}`;
    }
  }

  /** @throws {HttpError} 404 if it is not kept, or is another's */
  async deleteConversation(wireId: string): Promise<void> {
    const id = fromConversationId(wireId);
    if (id !== undefined && await this.#store?.delete(id, this.#conversationOwner)) return;
    this.#fail(`conversation '${wireId}'`, id, {
      ...NO_CONVERSATION,
      advice: "there is nothing to delete",
    });
  }

  /**
   * As whose a conversation is kept: no key contains a line feed, so that no response is taken for a
   * conversation, nor the other way round.
   */
  get #conversationOwner(): string {
    return `${this.#owner}\nconversation`;
  }

  async #item({ id }: InputItem, path: string): Promise<KeptItem> {
    if (!id) throw refusal(`${path} lacks "id"`, path);
    const responseId = responseOfItem(id);
    const kept = responseId && await this.#find(toResponseId(responseId));
    const item = kept && this.#itemsOf(kept).get(id) ||
      this.#fail(`${path}: item '${id}'`, responseId, {
        advice: "send the item itself",
        param: path,
      });
    this.#take(item);
    return item;
  }

  #itemsOf(kept: KeptResponse): Map<string, KeptItem> {
    let items = this.#items.get(kept);
    if (!items) {
      // Of two with one id, the first counts.
      const all = [...kept.response.output, ...kept.input].reverse();
      items = new Map(all.map((item) => [item.id, item]));
      this.#items.set(kept, items);
    }
    return items;
  }

  async #find(wireId: string): Promise<KeptResponse | undefined> {
    const id = fromResponseId(wireId);
    if (id === undefined) return undefined;
    const known = this.#read.get(id);
    if (known) return known;
    const bytes = await this.#store?.get(id, this.#owner);
    if (!bytes) return undefined;
    const kept = await this.#parse(bytes) as KeptResponse;
    this.#read.set(id, kept);
    return kept;
  }

  async #parse(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
    this.#allowance.hold(bytes.length);
    return await parseBytes(bytes, this.#allowance);
  }

  /**
   * Counts a kept item: a conversation made of them may be no larger than one that is sent as a
   * body.
   */
  #take(item: KeptItem): void {
    this.#taken += JSON.stringify(item).length;
    const { maxBytes } = this.#allowance;
    if (this.#taken > maxBytes) {
      throw new HttpError(
        413,
        `the conversation is larger than ${maxBytes} bytes: begin a new one with what matters of it`,
      );
    }
  }

  #fail(
    what: string,
    id: string | undefined,
    { advice, param, code, isConversation }: Fault,
  ): never {
    throw new HttpError(
      404,
      `${what} is not kept here: ${this.#reason(id, isConversation)}: ${advice}`,
      param,
      code,
    );
  }

  #reason(id: string | undefined, isConversation = false): string {
    if (!this.#store) return "this server keeps none (QUERN_RESPONSES, QUERN_CACHE)";
    const made = ResponseStore.madeAt(id ?? "");
    if (!made) return "this server gives no such id";
    const { age, count } = this.#store.bounds;
    if (this.#store.isExpired(id!)) {
      const day = made.toISOString().slice(0, 10);
      return `it was made on ${day}, and QUERN_RESPONSES_AGE keeps them for ${age / DAY} days`;
    }
    const unkept = isConversation
      ? "it was made with another API key"
      : 'it has not ended, was made with "store": false or another API key';
    return `${unkept}, was deleted, ` +
      `or made room for others (QUERN_RESPONSES keeps the last ${count})`;
  }
}

/** @throws {HttpError} 507 if a conversation is not kept */
function checkKept(isKept: unknown): void {
  if (isKept) return;
  throw new HttpError(
    INSUFFICIENT_STORAGE,
    "the conversation cannot be kept: it is larger than QUERN_RESPONSES_SIZE, or the disk does not " +
      "take it; the server's log says which",
  );
}

/**
 * An object with a list of items in UTF-8, encoded item by item, so that other requests are served in
 * between.
 *
 * @param head its other members: one at least
 */
async function encode(
  head: object,
  list: string,
  items: readonly KeptItem[],
): Promise<Uint8Array<ArrayBuffer>> {
  const slice = new TimeSlice();
  const encoder = new TextEncoder();
  const pieces = [encoder.encode(`${JSON.stringify(head).slice(0, -1)},"${list}":[`)];
  for (const [index, item] of items.entries()) {
    pieces.push(encoder.encode(`${index === 0 ? "" : ","}${JSON.stringify(item)}`));
    if (slice.isOver) await slice.pause();
  }
  return joinBytes([...pieces, encoder.encode("]}")]);
}

// The kept responses as one request of /v1/responses uses them: it finds the response that it
// continues and the items that it refers to, and its own response is kept. Errors say why something
// is not kept and what to do.

import { TimeSlice } from "../../../../../engine/mod.ts";
import { joinBytes } from "../../../../bytes.ts";
import type { BodyAllowance } from "../../../body/bodies.ts";
import { HttpError } from "../../../errors.ts";
import { parseBytes } from "../../../body/json_body.ts";
import { ResponseStore } from "../../../response_store.ts";
import { refusal } from "../errors.ts";
import {
  fromResponseId,
  isReference,
  responseOfItem,
  toKeptItems,
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

/** The sources of the kept responses of a request. */
export interface KeptResponsesOptions {
  /** Without one, nothing is kept. */
  store: ResponseStore | undefined;
  /** The API key of the request, or "" where the server asks for none. */
  owner: string;
  /** Kept responses that are read count against it, as a part of the request's body. */
  allowance: BodyAllowance;
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
   * What came before the request: input and output of the response that it continues.
   *
   * @throws {HttpError} 404 if that is not kept, 413 if it is too much
   */
  async earlier({ previous_response_id: wireId }: ResponsesBody): Promise<KeptItem[]> {
    if (!wireId) return [];
    const found = await this.#find(wireId) ??
      this.#fail(`response '${wireId}'`, fromResponseId(wireId), {
        advice: "send the whole conversation as input",
        param: "previous_response_id",
        code: "previous_response_not_found",
      });
    const items = [...found.input, ...found.response.output];
    const slice = new TimeSlice();
    for (const item of items) {
      this.#take(item);
      if (slice.isOver) await slice.pause();
    }
    return items;
  }

  /**
   * The input, in which the kept items replace the references to them.
   *
   * @throws {HttpError} 404 if one is not kept, 413 if they are too much
   */
  async resolved(input: ResponsesBody["input"]): Promise<ResponsesBody["input"]> {
    if (!Array.isArray(input) || !input.some(isReference)) return input;
    const items: InputItem[] = [];
    const slice = new TimeSlice();
    for (const [index, item] of input.entries()) {
      items.push(isReference(item) ? await this.#item(item, `input[${index}]`) : item);
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
  async keep(
    id: string,
    response: WholeResponse,
    earlier: readonly KeptItem[],
    input: ResponsesBody["input"],
  ): Promise<boolean> {
    if (!this.#store) return false;
    const all = [...earlier, ...toKeptItems(input, id, earlier)];
    return await this.#store.put(id, this.#owner, await encode({ response, input: all }));
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
    this.#allowance.hold(bytes.length);
    const kept = await parseBytes(bytes, this.#allowance) as KeptResponse;
    this.#read.set(id, kept);
    return kept;
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
    { advice, param, code }: { advice: string; param?: string; code?: string },
  ): never {
    throw new HttpError(
      404,
      `${what} is not kept here: ${this.#reason(id)}: ${advice}`,
      param,
      code,
    );
  }

  #reason(id: string | undefined): string {
    const made = ResponseStore.madeAt(id ?? "");
    if (!made) return "this server gives no such id";
    if (!this.#store) return "this server keeps none (QUERN_RESPONSES, QUERN_CACHE)";
    const { age, count } = this.#store.bounds;
    if (this.#store.isExpired(id!)) {
      const day = made.toISOString().slice(0, 10);
      return `it was made on ${day}, and QUERN_RESPONSES_AGE keeps them for ${age / DAY} days`;
    }
    return 'it has not ended, was made with "store": false or another API key, was deleted, ' +
      `or made room for others (QUERN_RESPONSES keeps the last ${count})`;
  }
}

/** The JSON text in UTF-8, encoded item by item, so that other requests are served in between. */
async function encode({ response, input }: KeptResponse): Promise<Uint8Array<ArrayBuffer>> {
  const slice = new TimeSlice();
  const encoder = new TextEncoder();
  const pieces = [encoder.encode(`{"response":${JSON.stringify(response)},"input":[`)];
  for (const [index, item] of input.entries()) {
    pieces.push(encoder.encode(`${index === 0 ? "" : ","}${JSON.stringify(item)}`));
    if (slice.isOver) await slice.pause();
  }
  return joinBytes([...pieces, encoder.encode("]}")]);
}

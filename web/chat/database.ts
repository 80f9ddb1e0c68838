// Conversations in the browser's own database. Where it has none, as in some private windows, they
// last as long as the page.

import type { Conversation } from "./tree.ts";

const NAME = "quern";
const STORE = "conversations";

let opening: Promise<IDBDatabase | undefined> | undefined;

function open(): Promise<IDBDatabase | undefined> {
  return opening ??= new Promise((resolve) => {
    try {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id" });
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(undefined);
      request.onblocked = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
}

async function within<T>(
  mode: IDBTransactionMode,
  action: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T | undefined> {
  const database = await open();
  if (!database) return undefined;
  return await new Promise((resolve, reject) => {
    const request = action(database.transaction(STORE, mode).objectStore(STORE));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export async function readAll(): Promise<Conversation[]> {
  return await within<Conversation[]>("readonly", (store) => store.getAll()) ?? [];
}

/** Keeps a conversation, in place of what it was. */
export async function write(conversation: Conversation): Promise<void> {
  await within("readwrite", (store) => store.put(conversation));
}

/** Forgets a conversation. */
export async function remove(id: string): Promise<void> {
  await within("readwrite", (store) => store.delete(id));
}

// Names of things in Anthropic's Messages API. Clients know tool calls by their prefix; behind it stands
// the engine's own name, so that templates which write a call's id see it as the model wrote it.

const PREFIX = "toolu_";

/** A name that nothing else has, such as "msg_" and 24 digits. */
export function newId(kind: "msg" | "req"): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

/** The wire's name of a call of the engine. */
export function toWireId(id: string): string {
  return PREFIX + id;
}

/** The engine's name of a call. Names that others gave stay told apart. */
export function toEngineId(id: string): string {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}

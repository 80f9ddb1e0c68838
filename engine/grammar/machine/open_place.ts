// Where a document that is being written is: the keys and indices of its open objects and arrays. For
// the message of an error, so nothing but JSON is expected.

/** The keys and indices that lead to the value that is open at the end of a beginning of JSON. */
export function openPlace(document: Uint8Array): (string | number)[] {
  const text = new TextDecoder().decode(document);
  const open: { isArray: boolean; place: string | number }[] = [];
  let last = "";
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{},:]/gsu)) {
    const top = open.at(-1);
    if (part === "[") open.push({ isArray: true, place: 0 });
    else if (part === "{") open.push({ isArray: false, place: "" });
    else if (part === "]" || part === "}") open.pop();
    else if (part === "," && top?.isArray) top.place = Number(top.place) + 1;
    else if (part === ":" && top) top.place = JSON.parse(last);
    else last = part;
  }
  return open.map(({ place }) => place);
}

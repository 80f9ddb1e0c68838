// What the list of noted blobs tells of blobs that are named and lost at about the same time.

import { assertEquals } from "@std/assert";
import { ManifestFolder } from "../../../engine/store/manifest_folder.ts";
import { BlobNotes } from "../../../engine/store/notes.ts";
import { withFiles } from "./world.ts";

const DIGEST = `sha256:${"0".repeat(64)}`;

async function withNotes(test: (notes: BlobNotes, blob: string) => Promise<void>): Promise<void> {
  await withFiles({ "manifests/kept": "", "blobs/some": "text" }, async ({ folder }) => {
    await test(
      new BlobNotes(`${folder}/noted`, new ManifestFolder(folder)),
      `${folder}/blobs/some`,
    );
  });
}

Deno.test("a blob that was added is abandoned until a manifest names it", () =>
  withNotes(async (notes, blob) => {
    await notes.added(DIGEST, blob);
    assertEquals([...(await notes.abandoned()).keys()], [DIGEST]);
    await notes.named([DIGEST], await notes.length());
    assertEquals((await notes.abandoned()).size, 0);
    await notes.lost([[DIGEST, blob]]);
    assertEquals([...(await notes.abandoned()).keys()], [DIGEST]);
  }));

Deno.test("a manifest that was removed before it was noted abandons its blobs", () =>
  withNotes(async (notes, blob) => {
    await notes.added(DIGEST, blob);
    const length = await notes.length();
    // Here the manifest is written, and another request removes it.
    await notes.lost([[DIGEST, blob]]);
    await notes.named([DIGEST], length);
    assertEquals([...(await notes.abandoned()).keys()], [DIGEST]);
  }));

// A view whose code is loaded when it is first shown.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { text } from "../strings.ts";
import { Notice } from "../ui/controls.tsx";

type View = ComponentType<{ argument: string }>;

/** The view, or that it is on its way. */
export function Later({ load, argument = "" }: {
  load: () => Promise<View>;
  argument?: string;
}) {
  const [found, setFound] = useState<{ View: View } | { error: string }>();
  useEffect(() => {
    load().then((View) => setFound({ View }), (error) => setFound({ error: messageOf(error) }));
  }, []);
  if (!found) return <p class="aside" role="status">{text.common.loading}</p>;
  if ("error" in found) return <Notice kind="error">{found.error}</Notice>;
  return <found.View argument={argument} />;
}

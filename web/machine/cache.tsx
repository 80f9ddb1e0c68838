// What the caches of the loaded models hold, by conversation, and which place of a prompt cost it the rest.

import { text } from "../strings.ts";
import { formatCount, formatSeconds } from "../ui/format.ts";

/** What GET /api/cache answers. */
export interface CacheContents {
  models: { model: string; conversations: Conversation[] }[];
}

interface Conversation {
  title: string;
  is_beside?: boolean;
  last_used: string;
  tokens: number;
  on_device: number;
  in_memory: number;
  on_disk: number;
  last_prompt: { prompt_tokens: number; cached_tokens: number; lost?: Lost };
}

/** The position at which a prompt differs from an earlier one. */
interface Lost {
  tokens: number;
  seconds: number;
  token: number;
  message?: number;
  before: string;
  was: string;
  is: string;
  advice: string;
}

/** A table of conversations. */
export function Cache({ models }: CacheContents) {
  const rows = models.flatMap(({ model, conversations }) =>
    conversations.map((one) => ({ model, ...one }))
  );
  return (
    <section class="card" aria-label={text.cache.title}>
      <h2>{text.cache.title}</h2>
      <p class="aside">{rows.length === 0 ? text.cache.none : text.cache.lead}</p>
      {rows.length > 0 && (
        <div
          class="table-frame requests kept"
          tabIndex={0}
          role="region"
          aria-label={text.cache.title}
        >
          <table>
            <thead>
              <tr>{text.cache.columns.map((name) => <th key={name} scope="col">{name}</th>)}</tr>
            </thead>
            <tbody>
              {rows.map((one, index) => (
                <tr key={index}>
                  <td>{new Date(one.last_used).toLocaleTimeString("en-GB")}</td>
                  <td title={one.model}>{one.model}</td>
                  <td title={one.title}>
                    {one.is_beside && <span class="badge">{text.cache.beside}</span>} {one.title}
                  </td>
                  {[one.tokens, one.on_device, one.in_memory, one.on_disk].map((count, column) => (
                    <td key={column}>{formatCount(count)}</td>
                  ))}
                  <td>
                    {text.machine.of(
                      formatCount(one.last_prompt.cached_tokens),
                      formatCount(one.last_prompt.prompt_tokens),
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.map(({ title, last_prompt: { lost } }, index) =>
        lost && (
          <details key={index}>
            <summary>
              {text.cache.lost(title, formatCount(lost.tokens), formatSeconds(lost.seconds))}
            </summary>
            <p>{text.cache.place(lost.token, lost.message)}</p>
            <dl class="differing">
              <dt>{text.cache.was}</dt>
              <dd>
                <code>
                  {lost.before}
                  <mark>{lost.was}</mark>
                </code>
              </dd>
              <dt>{text.cache.is}</dt>
              <dd>
                <code>
                  {lost.before}
                  <mark>{lost.is}</mark>
                </code>
              </dd>
            </dl>
            <p class="aside">{lost.advice}</p>
          </details>
        )
      )}
    </section>
  );
}

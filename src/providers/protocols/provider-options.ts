import { isRecord } from '../../base/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Lays the caller's own fields over a body: they win. The fields named in `joined` are objects of many settings; there the
 * caller's settings are laid over ours one by one instead of replacing them all.
 */
export function withProviderOptions(
  body: Fields,
  options: Fields | undefined,
  joined: readonly string[],
): Fields {
  if (options === undefined) return body;
  const inner = joined.filter((name) => isRecord(body[name]) && isRecord(options[name]));
  return {
    ...body,
    ...options,
    ...Object.fromEntries(
      inner.map((name) => [name, { ...(body[name] as Fields), ...(options[name] as Fields) }]),
    ),
  };
}

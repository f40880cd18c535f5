import { isRecord } from '../../base/json.ts';
import type { AiSdkLanguageModel, AiSdkRecord } from '../../providers/ai-sdk/language-model.ts';

/**
 * The addresses of files that every model of a chain fetches by itself. All others the AI SDK downloads before it calls, so
 * that a fallback is not handed an address that only the first model can read.
 */
export function supportedUrlsOf([first, ...rest]: readonly AiSdkLanguageModel[]): unknown {
  return rest.length === 0 ? urlsOf(first) : commonUrls([first, ...rest]);
}

function urlsOf(model: AiSdkLanguageModel | undefined): unknown {
  return (model as { readonly supportedUrls?: unknown } | undefined)?.supportedUrls;
}

async function commonUrls(models: readonly (AiSdkLanguageModel | undefined)[]): Promise<AiSdkRecord> {
  const [first = {}, ...rest] = (await Promise.all(models.map(urlsOf))).map((urls) =>
    isRecord(urls) ? urls : {},
  );
  const common = Object.entries(first).flatMap(([mediaType, patterns]) => {
    const shared = listOf(patterns).filter((pattern) =>
      rest.every((urls) => listOf(urls[mediaType]).some((other) => String(other) === String(pattern))),
    );
    return shared.length === 0 ? [] : [[mediaType, shared] as const];
  });
  return Object.fromEntries(common);
}

function listOf(patterns: unknown): readonly unknown[] {
  return Array.isArray(patterns) ? patterns : [];
}

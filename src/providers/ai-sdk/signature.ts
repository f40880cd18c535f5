import { isRecord } from '../../base/json.ts';
import type { Signature } from '../../model/message.ts';
import type { PackageOptions } from './dialects.ts';
import type { AiSdkRecord, CheckedModel } from './language-model.ts';

/** What the provider wants back with a part. Its value is the JSON of the part's `providerMetadata`. */
export function toSignature(model: CheckedModel, metadata: AiSdkRecord | undefined): Signature {
  return { protocol: protocolOf(model), value: metadataText(metadata ?? {}) };
}

/** The options that go back with a part: nothing where they are another protocol's, or where there are none. */
export function fromSignature(
  model: CheckedModel,
  signature: Signature | undefined,
): PackageOptions | undefined {
  if (!isSignedBy(model, signature)) return undefined;
  try {
    const value: unknown = JSON.parse(signature.value);
    return isRecord(value) && Object.keys(value).length > 0 ? (value as PackageOptions) : undefined; // From toSignature.
  } catch {
    return undefined; // Not ours: a journal may hold what another program wrote under this name.
  }
}

/** Whether this model's provider wrote it. Thoughts go back to nobody else. */
export function isSignedBy(model: CheckedModel, signature: Signature | undefined): signature is Signature {
  return signature?.protocol === protocolOf(model);
}

function protocolOf({ provider }: CheckedModel): string {
  return `ai-sdk:${provider}`;
}

/** Metadata is JSON by the specification; what is not cannot be sent back. */
function metadataText(metadata: AiSdkRecord): string {
  try {
    return JSON.stringify(metadata);
  } catch {
    return '{}'; // A cycle or a BigInt: no provider package could read it back either.
  }
}

export { resilient } from '../../interop/ai-sdk/resilient.ts';
export type { ResilientPolicy } from '../../interop/ai-sdk/resilient-call.ts';
export { aiSdk } from './ai-sdk.ts';
export type { AiSdkOptions } from './ai-sdk.ts';
export type { AiSdkLanguageModel } from './language-model.ts';
export { toAiSdkError } from './to-ai-sdk-error.ts';

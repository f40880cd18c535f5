// A model that Rerail does not know, behind an API of its own: a line of JSON for each piece of the answer.
//
//   ACME_URL=http://localhost:8080 npm run example own-model
import { callModel, defineModel } from 'rerail/model';
import type { FinishReason, Model } from 'rerail/model';

interface AcmeLine {
  readonly text?: string;
  readonly call?: { readonly id: string; readonly tool: string; readonly input: string };
  readonly tokens?: { readonly in: number; readonly out: number };
  readonly end?: FinishReason;
}

export function acme(baseURL: string, model: string): Model {
  return defineModel({
    provider: 'acme',
    model,
    capabilities: { tools: true, parallelToolCalls: true },
    async *stream({ messages, tools, maxOutputTokens }, { signal }) {
      const body = JSON.stringify({ model, messages, tools, maxOutputTokens });
      const response = await fetch(`${baseURL}/chat`, { method: 'POST', body, signal });
      const { status, headers } = response;
      if (!response.ok || response.body === null)
        throw Object.assign(new Error(await response.text()), { status, headers });
      let rest = '';
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const { text, call, tokens, end } = JSON.parse(line) as AcmeLine;
          if (text !== undefined) yield { type: 'text-delta', text };
          if (call) yield { type: 'tool-call', callId: call.id, name: call.tool, arguments: call.input };
          if (tokens) yield { type: 'usage', usage: { inputTokens: tokens.in, outputTokens: tokens.out } };
          if (end) yield { type: 'finished', finish: end };
        }
      }
    },
  });
}

const address = process.env['ACME_URL'];
if (address !== undefined) {
  const messages = [{ role: 'user', content: 'Hello' }] as const;
  const outcome = await callModel(acme(address, 'acme-1'), { messages });
  console.log(outcome.type === 'success' ? outcome.result.text : outcome.failure.code); // Hello to you
}

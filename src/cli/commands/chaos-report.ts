import { printable } from '../../base/printable.ts';
import type { ChaosCounters } from '../../chaos/counting.ts';
import type { RecordedRequest } from '../../chaos/records.ts';
import type { ChaosServer } from '../../chaos/server.ts';
import { layoutRows } from '../text/layout.ts';
import type { Screen } from '../text/layout.ts';

/** Where it listens, and what to set so that a program goes there. */
export function renderAddresses(server: ChaosServer, screen: Screen): string {
  const rows = [
    { label: 'OpenAI', text: server.baseURL('openai-chat') },
    { label: 'Anthropic', text: server.baseURL('anthropic') },
    { label: 'Gemini', text: server.baseURL('gemini') },
    { label: 'Ollama', text: `${server.baseURL('ollama')} (its /v1; of /api only embeddings)` },
  ];
  const lines = [
    screen.paint('title', `A provider that misbehaves on purpose listens on ${server.url}`),
    '',
    ...layoutRows(rows, { ...screen, indent: 2, labelWidth: 12 }),
    '',
    'Any key will do. For programs that read their environment:',
    // The client of Anthropic puts /v1 behind it by itself; this server takes both.
    `  export OPENAI_BASE_URL=${server.baseURL('openai-chat')} OPENAI_API_KEY=chaos`,
    `  export ANTHROPIC_BASE_URL=${server.url} ANTHROPIC_API_KEY=chaos`,
    `  export GOOGLE_GEMINI_BASE_URL=${server.url} GEMINI_API_KEY=chaos`,
    ...trustLines(server),
    '',
    'One fault for one request: the header x-rerail-fault (see: rerail chaos faults).',
    `Counters: ${server.url}/__chaos/counters. Ctrl-C ends it.`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** No client trusts a new self-signed certificate. */
function trustLines({ url, certificate }: ChaosServer): readonly string[] {
  if (certificate === undefined) return [];
  return [
    '',
    'Its certificate is its own. For programs on Node.js that should trust it:',
    `  curl -sk ${url}/__chaos/certificate > chaos.pem`,
    '  export NODE_EXTRA_CA_CERTS=$PWD/chaos.pem',
  ];
}

/** One line: what was asked, which fault was delivered, how it ended. */
export function renderRequest(request: RecordedRequest, { paint }: Screen): string {
  const { wallMs, protocol, model, isStream, status, bytesSent, ended } = request;
  const time = new Date(wallMs).toISOString().slice(11, 23);
  const words = [
    `#${request.sequence}`,
    protocol === 'unknown' ? `${request.method} ${request.path}` : protocol,
    model === '' ? '-' : model,
    isStream ? 'stream' : 'whole',
    status === undefined ? '-' : String(status),
    `${bytesSent} bytes`,
    ended,
  ];
  const end = printable(endWords(request));
  const isFault = request.faultDelivered !== undefined;
  return `${paint('label', time)} ${printable(words.join(' '))} ${isFault ? paint('failure', end) : end}`;
}

function endWords({ faultAsked, faultDelivered, undeliveredBecause, status }: RecordedRequest): string {
  if (faultAsked === undefined) {
    return (status ?? 0) >= 400 ? 'refused: no provider would take this request' : 'good answer';
  }
  if (faultDelivered !== undefined) return `fault ${faultDelivered}`;
  return `fault ${faultAsked.name} was not delivered: ${undeliveredBecause ?? 'the client left before'}`;
}

/** What happened in all. */
export function renderSummary(counters: ChaosCounters, screen: Screen): string {
  const { requests, faultsAsked, faultsDelivered, faultsByName, maxInFlight } = counters;
  const rows = Object.entries(faultsByName).map(([label, count]) => ({ label, text: String(count) }));
  const head = `${requests} ${requests === 1 ? 'request' : 'requests'}, at most ${maxInFlight} at once; ${faultsDelivered} of ${faultsAsked} faults delivered.`;
  const labelWidth = Math.max(0, ...rows.map(({ label }) => label.length)) + 2;
  return `${['', head, ...layoutRows(rows, { ...screen, indent: 2, labelWidth })].join('\n')}\n`;
}

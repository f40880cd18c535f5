import { isRecord } from '../../base/json.ts';
import { showValue } from './show-value.ts';

/** What one look at all messages found. */
export interface MessageFindings {
  readonly problems: readonly string[];
  /** Whether there are such parts, what tools gave back included. */
  readonly hasImages: boolean;
  readonly hasFiles: boolean;
  /** Calls or results of tools. */
  readonly hasCalls: boolean;
}

/**
 * Looks at every message and every part once, for a caller without types may hand in anything, and so may one who brings
 * the messages of another library. At most one problem is named per message.
 */
export function lookAtMessages(messages: unknown): MessageFindings {
  const problems: string[] = [];
  const seen: Seen = { hasImages: false, hasFiles: false, hasCalls: false };
  if (!Array.isArray(messages)) {
    problems.push(`"messages" must be a list such as [${exampleMessage}], got ${showValue(messages)}`);
    return { ...seen, problems };
  }
  if (messages.length === 0) problems.push('"messages" is empty');
  for (let index = 0; index < messages.length; index += 1) {
    const problem = findMessageProblem(messages[index], seen);
    if (problem !== undefined) problems.push(`messages[${index}]${problem}`);
  }
  return { ...seen, problems };
}

/** Written while the parts are looked at. */
interface Seen {
  hasImages: boolean;
  hasFiles: boolean;
  hasCalls: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Says what is wrong with a part of its type; the text continues after the place of the part. */
type PartRule = (part: Fields, seen: Seen) => string | undefined;
type PartRules = ReadonlyMap<unknown, PartRule>;

const exampleMessage = "{ role: 'user', content: 'Hello' }";
const text: readonly [string, PartRule] = ['text', (part) => wantText(part, 'text')];
const image: readonly [string, PartRule] = [
  'image',
  (part, seen) => {
    seen.hasImages = true;
    return findMediaProblem(part);
  },
];
const resultRules: PartRules = new Map([text, image]);

const rulesOfRole: ReadonlyMap<unknown, PartRules> = new Map<unknown, PartRules>([
  ['system', new Map([text])],
  [
    'user',
    new Map<unknown, PartRule>([
      text,
      image,
      [
        'file',
        (part, seen) => {
          seen.hasFiles = true;
          return findMediaProblem(part);
        },
      ],
    ]),
  ],
  [
    'assistant',
    new Map<unknown, PartRule>([
      text,
      ['reasoning', (part) => wantText(part, 'text')],
      [
        'tool-call',
        (part, seen) => {
          seen.hasCalls = true;
          return wantText(part, 'callId') ?? wantText(part, 'name') ?? findArgumentsProblem(part);
        },
      ],
    ]),
  ],
  [
    'tool',
    new Map<unknown, PartRule>([
      [
        'tool-result',
        (part, seen) => {
          seen.hasCalls = true;
          return wantText(part, 'callId') ?? wantText(part, 'name') ?? findResultProblem(part, seen);
        },
      ],
    ]),
  ],
]);

function findMessageProblem(message: unknown, seen: Seen): string | undefined {
  if (!isRecord(message)) return ` must be an object such as ${exampleMessage}, got ${showValue(message)}`;
  const { role, content } = message;
  const rules = rulesOfRole.get(role);
  if (rules === undefined)
    return `.role must be ${listOf(rulesOfRole)}, got ${showValue(role)}${meant(role)}`;
  if (message['tool_calls'] !== undefined) {
    return `.tool_calls is in the form of OpenAI: put each call into "content" as ${partForms['tool-call']}`;
  }
  if (typeof content === 'string' && role !== 'tool') return undefined;
  if (Array.isArray(content)) return findPartsProblem(content, rules, seen);
  const wanted = role === 'tool' ? `a list of ${partForms['tool-result']}` : 'a text or a list of parts';
  return `.content must be ${wanted}, got ${showValue(content)}`;
}

function findPartsProblem(parts: readonly unknown[], rules: PartRules, seen: Seen): string | undefined {
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index];
    if (!isRecord(part)) {
      return `.content[${index}] must be an object such as ${partForms.text}, got ${showValue(part)}`;
    }
    const rule = rules.get(part['type']);
    const problem = rule === undefined ? findTypeProblem(part['type'], rules) : rule(part, seen);
    if (problem !== undefined) return `.content[${index}]${problem}`;
  }
  return undefined;
}

function findTypeProblem(type: unknown, rules: PartRules): string {
  return `.type must be ${listOf(rules)} here, got ${showValue(type)}${meant(type)}`;
}

function wantText(part: Fields, field: string): string | undefined {
  return typeof part[field] === 'string'
    ? undefined
    : `.${field} must be a text, got ${showValue(part[field])}`;
}

function findArgumentsProblem({ argumentsText }: Fields): string | undefined {
  if (typeof argumentsText === 'string') return undefined;
  return `.argumentsText must be the arguments as JSON text: JSON.stringify them, got ${showValue(argumentsText)}`;
}

function findResultProblem({ content }: Fields, seen: Seen): string | undefined {
  if (typeof content === 'string') return undefined;
  if (Array.isArray(content)) return findPartsProblem(content, resultRules, seen);
  return `.content must be a text or a list of parts: JSON.stringify an object, got ${showValue(content)}`;
}

function findMediaProblem({ mediaType, source }: Fields): string | undefined {
  if (typeof mediaType !== 'string') {
    return `.mediaType must be a text such as "image/png" or "application/pdf", got ${showValue(mediaType)}`;
  }
  const isSource =
    isRecord(source) &&
    ((source['type'] === 'base64' && typeof source['data'] === 'string') ||
      (source['type'] === 'url' && typeof source['url'] === 'string'));
  if (isSource) return undefined;
  const got = isRecord(source) ? `an object of type ${showValue(source['type'])}` : showValue(source);
  return `.source must be { type: 'base64', data } or { type: 'url', url } with a text, got ${got}`;
}

function listOf(rules: ReadonlyMap<unknown, unknown>): string {
  const names = [...rules.keys()].map((name) => `"${String(name)}"`);
  return names.length === 1 ? String(names[0]) : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** How the parts are written here. */
const partForms = {
  text: "{ type: 'text', text }",
  image: "{ type: 'image', mediaType, source: { type: 'url', url } }",
  file: "{ type: 'file', mediaType, source: { type: 'base64', data } }",
  reasoning: "{ type: 'reasoning', text }",
  'tool-call': "{ type: 'tool-call', callId, name, argumentsText }",
  'tool-result': "{ type: 'tool-result', callId, name, content }",
} as const;

/** The words of other libraries for roles and parts. */
const wordsElsewhere: ReadonlyMap<unknown, string> = new Map([
  ['developer', '"system"'],
  ['human', '"user"'],
  ['ai', '"assistant"'],
  ['model', '"assistant"'],
  ['function', '"tool"'],
  ['input_text', partForms.text],
  ['output_text', partForms.text],
  ['image_url', partForms.image],
  ['input_image', partForms.image],
  ['input_file', partForms.file],
  ['document', partForms.file],
  ['thinking', partForms.reasoning],
  ['tool_use', partForms['tool-call']],
  ['tool_call', partForms['tool-call']],
  ['function_call', partForms['tool-call']],
  ['tool_result', `${partForms['tool-result']} in a message of the role "tool"`],
  ['tool-result', `${partForms['tool-result']} in a message of the role "tool"`],
]);

function meant(word: unknown): string {
  const own = wordsElsewhere.get(word);
  return own === undefined ? '' : `: write ${own}`;
}

// Table: what the simulated model can talk about. The first row whose pattern matches answers.

/** Something a person may ask, and the answers to choose from. */
export interface Intent {
  readonly name: string;
  readonly pattern: RegExp;
  /** All say the same; the seed chooses. */
  readonly answers: readonly [string, ...string[]];
}

/** Asks for an explanation, and not for something to be done. */
const ask = String.raw`\b(?:what(?:'s| is| are| does| do)|why|how(?: do| does| is| are)?|explain|describe|tell me (?:about|what)|who)\b`;
const about = (words: string): RegExp => new RegExp(String.raw`${ask}[^\n]{0,60}\b(?:${words})\b`, 'i');

/** Every intent, the specific before the general. */
export const intents: readonly Intent[] = [
  {
    name: 'who-are-you',
    pattern:
      /\b(?:who|what) (?:are|r) (?:you|u)\b|\bare you (?:real|human|a (?:bot|model|person|human)|an? ai|simulated|chatgpt|claude|gemini)\b|\byour name\b|\bwhich model\b/i,
    answers: [
      'I am the simulated model built into Rerail. I run offline, need no key and follow a small set of rules: I can talk about Rerail, do sums, remember what you tell me in this conversation and use the tools I am given. I am no language model.',
      'I am a simulated model: a small set of rules inside Rerail, not a language model. I work offline and always answer the same way. Give me a tool and ask for what it does, or ask me about Rerail.',
    ],
  },
  {
    name: 'why-wait',
    pattern:
      /\bwhy (?:did|do|are|were) (?:you|we|it|the run)\b[^\n]{0,30}\b(?:wait|slow|pause|retry|repeat|long|tak)/i,
    answers: [
      'I cannot see the run from inside an answer. A wait means that an attempt failed and Rerail will try again: as long as the provider asked for, or else a delay that doubles from 1 second up to 10, with some chance added. The reason and the length of every wait are told while it lasts, and kept in the report.',
    ],
  },
  {
    name: 'cancel',
    pattern: about('cancel|cancelled|cancellation|abort|interruption|ctrl-c'),
    answers: [
      'Cancelling is a wish and not a failure: the signal ends whatever waits, the run ends as "cancelled" with what had arrived, and it can be resumed.',
    ],
  },
  {
    name: 'stream',
    pattern: about('stream|streams|streaming|splice|retract|retracted'),
    answers: [
      'A stream that ends without its closing event was cut off, whatever the socket said. Rerail keeps the text that was shown and continues it (splice), or takes it back (retract), so that nobody takes half an answer for a whole one. A tool call that was still being written is dropped.',
    ],
  },
  {
    name: 'breaker',
    pattern: about('breaker|circuit'),
    answers: [
      'A breaker stops calling a provider that keeps failing. After a while it lets a single probe through: if that succeeds the breaker closes and the others may call again.',
    ],
  },
  {
    name: 'fallback',
    pattern: about('fallback|fallbacks|fall back|backup model|second model'),
    answers: [
      'A fallback is the next model in the list. When the first one cannot answer, because its key is wrong, its quota is used up or it stays overloaded, the same request goes to the next. The switch is recorded with its reason.',
    ],
  },
  {
    name: 'ladder',
    pattern: about('ladder|rung|rungs|recover|recovers|recovery|recoveries'),
    answers: [
      'Recovery is a ladder: each failure climbs bounded rungs, such as waiting and retrying, continuing a broken stream, another model, a shorter conversation, a corrected call or a question to a person, and ends in a typed outcome. Failures that were overcome are listed as recoveries and never hidden.',
    ],
  },
  {
    name: 'retry',
    pattern: about('retry|retries|retrying|retried|backoff|jitter|attempt|attempts'),
    answers: [
      'A retry sends the same attempt again, and only where that can help: after a rate limit, an overload, a broken connection. Only the runtime retries, by default 4 attempts in all; it waits at least as long as the provider asked, and otherwise 1 second doubling to 10 with 20 percent of chance. What can never succeed is not retried.',
    ],
  },
  {
    name: 'rate-limit',
    pattern: about('rate limit|rate limits|rate limited|429|quota'),
    answers: [
      'A rate limit means "later": Rerail waits as long as the provider asked and tries again. A used-up quota means "pay or raise the limit": waiting does not help, so it is not retried. Both often arrive as status 429, which is why Rerail looks at more than the status.',
    ],
  },
  {
    name: 'resume',
    pattern: about('resume|resuming|crash|crashes|replay|suspend|suspended'),
    answers: [
      'Resuming is replaying: the journal is read again and the run goes on where it stood. What finished is never run again. A tool call that was under way in a crash is repeated only if it declares that this is safe; otherwise it is in doubt, and someone is asked.',
    ],
  },
  {
    name: 'journal',
    pattern: about('journal|journals|history of the run|event log'),
    answers: [
      'The journal is the list of events of a run, written before anything is done about them. The state of the run is what these events add up to, so resuming is reading them again.',
    ],
  },
  {
    name: 'outcome',
    pattern: about('outcome|outcomes'),
    answers: [
      'A run ends in one of five outcomes: completed, stopped (a limit or a person ended it), suspended (it waits for something outside), cancelled or failed. Each says how many turns and tokens it took and what was recovered on the way.',
    ],
  },
  {
    name: 'effect',
    pattern: about('effect|effects|idempotent|side effect|once tool'),
    answers: [
      'A tool declares its effect: "read" changes nothing, "idempotent" may be repeated, "once" may not. What Rerail repeats, runs side by side or asks about follows from that. A call whose outcome is unknown is never silently repeated.',
    ],
  },
  {
    name: 'failure',
    pattern: about('failure|failures|error|errors|code|codes|went wrong'),
    answers: [
      'A failure is plain data made where it happens: a code from a closed list, what was attempted, whether the same attempt may succeed later, how long to wait, and what a person can do next. Every failure has a type, a policy and a way back.',
    ],
  },
  {
    name: 'limits',
    pattern: about('limit|limits|budget|deadline|timeout|timeouts'),
    answers: [
      'Everything has a bound: turns, attempts, tokens, cost, time. When one is reached the run stops and says which, with what it had so far.',
    ],
  },
  {
    name: 'approval',
    pattern: about('approval|approve|permission|permissions'),
    answers: [
      'A tool may need a person to say yes before it runs. Until then the run is suspended. No answer, a late one or one that cannot be read means no.',
    ],
  },
  {
    name: 'chaos',
    pattern: about('chaos|faults|fault injection'),
    answers: [
      'The chaos server is a provider that misbehaves on purpose: rate limits, broken streams, nonsense. It is there to see an agent survive before production tries it.',
    ],
  },
  {
    name: 'tools',
    pattern: /\bwhat (?:can you do|tools)\b|\bwhich tools\b|\byour tools\b/i,
    answers: ['I can talk about Rerail, do sums, remember what you tell me here and use tools. {tools}'],
  },
  {
    name: 'rerail',
    pattern: new RegExp(String.raw`${ask}[^\n]{0,40}\brerail\b|^\s*rerail\s*\?*\s*$`, 'i'),
    answers: [
      'Rerail is an agent runtime for TypeScript in which every failure has a type, a policy and a way back. When a model or a tool fails, it classifies the failure, recovers where that is possible, and keeps a record of what it did.',
    ],
  },
  {
    name: 'help',
    pattern: /^\s*(?:help|\?|what now)\b|\bhelp me\b|\bhow does this work\b|\bwhat should i (?:ask|do)\b/i,
    answers: [
      'Ask me what a failure, a retry, a fallback, the ladder or the journal is, give me a sum, tell me your name, or ask for something that one of my tools does. {tools}',
    ],
  },
  {
    name: 'thanks',
    pattern: /\b(?:thanks|thank you|thx|cheers|great job|well done)\b/i,
    answers: ['You are welcome.', 'Glad to help.'],
  },
  {
    name: 'goodbye',
    pattern: /\b(?:bye|goodbye|see you|good night)\b/i,
    answers: ['Goodbye.', 'See you.'],
  },
  {
    name: 'how-are-you',
    pattern: /\bhow are you\b|\bhow is it going\b/i,
    answers: ['I am a set of rules, so always the same. What can I do for you?'],
  },
  {
    name: 'greeting',
    pattern: /^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)\b/i,
    answers: [
      'Hello. I am the simulated model built into Rerail. What can I do for you?',
      'Hello. You are talking to the simulated model of Rerail. Ask me what a failure is, or type help.',
    ],
  },
];

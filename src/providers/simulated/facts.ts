/** What a person told about themselves, by its name: `name`, `city`, `favourite colour`. Later words win. */
export type Facts = ReadonlyMap<string, string>;

const value = String.raw`([^\s.,;!?][^.,;!?\n]{0,60}?)(?=\s+and\b|[.,;!?\n]|$)`;

/** How people say it, the most special last. The first group is the value, or the name and then the value. */
const tellings: readonly { readonly name?: string; readonly pattern: RegExp }[] = [
  { pattern: new RegExp(String.raw`\bmy ([a-z][a-z ]{1,30}?) (?:is|are) ${value}`, 'gi') },
  {
    name: 'name',
    pattern: /\b(?:[Cc]all me|[Mm]y name is|[Mm]y name's)\s+(\p{L}[\p{L}'-]*(?: \p{Lu}[\p{L}'-]*)?)/gu,
  },
  { name: 'name', pattern: /\b(?:[Ii]['’]m|[Ii] am)\s+(\p{Lu}[\p{L}'-]+)/gu },
  { name: 'city', pattern: /\bi (?:live in|am from|come from)\s+(\p{L}[\p{L}' -]{0,40})/giu },
];

/** Reads what the person told. */
export function readFacts(userTexts: readonly string[]): Facts {
  const facts = new Map<string, string>();
  for (const text of userTexts) {
    for (const { name, pattern } of tellings) {
      for (const found of text.matchAll(pattern)) {
        const [, first = '', second = ''] = found;
        if (name === undefined) facts.set(first.trim().toLowerCase(), second.trim());
        else facts.set(name, first.trim());
      }
    }
  }
  return facts;
}

/** Answers what was told before, takes note of what is told now, or has nothing to say. */
export function talkOfFacts(text: string, userTexts: readonly string[]): string | undefined {
  const known = readFacts(userTexts);
  const asked = askedFor(text);
  if (asked !== undefined) {
    const told = known.get(asked);
    if (told !== undefined) return `You told me: your ${asked} is ${told}.`;
    return `You have not told me your ${asked} in this conversation, so I cannot know it.`;
  }
  const remembered = /^\s*(?:please )?remember(?: that)?:? (.{1,300})/is.exec(text)?.[1];
  if (remembered !== undefined) return `Noted: ${remembered.trim()}`;
  const told = [...readFacts([text])];
  if (told.length === 0) return undefined;
  return `Noted: ${told.map(([name, what]) => `your ${name} is ${what}`).join(', ')}.`;
}

function askedFor(text: string): string | undefined {
  if (/\bwho am i\b|\bdo you (?:know|remember) me\b/i.test(text)) return 'name';
  if (/\bwhere do i live\b/i.test(text)) return 'city';
  return /\bwhat(?:'s| is| was| are) my ([a-z][a-z ]{1,30}?)\s*(?:again)?\s*[?.!]*\s*$/i
    .exec(text)?.[1]
    ?.toLowerCase();
}

import type { ToolDefinition } from '../../model/request.ts';
import { withoutQuotes } from './find-values.ts';
import { asSchema } from './schema-shape.ts';
import { plainStemsOf, stemsOf, wordsOf } from './words.ts';

/** A tool that a sentence may ask for, and how clearly it does. */
export interface Choice {
  readonly tool: ToolDefinition;
  readonly score: number;
}

/** A synonym counts less than the word itself. */
const weights = { mentioned: 10, name: 3, synonym: 2.5, description: 1, field: 1 } as const;
/** One word of the name that no other tool has, or three words of the description. */
const minScore = 2.5;
const maxTools = 200;
const maxDescriptionLength = 2000;

/** Chooses the tool whose name, description and parameters share most words with the sentence. */
export function chooseTool(sentence: string, given: readonly ToolDefinition[]): Choice | undefined {
  const tools = given.slice(0, maxTools);
  const plain = withoutQuotes(sentence);
  const said = new Set([...plainStemsOf(plain), ...stemsOf(plain).map(asSynonym)]);
  const vocabularies = tools.map(vocabularyOf);
  const scored = tools.map((tool, index) => {
    const words = vocabularies[index] ?? new Map<string, number>();
    const score = [...words]
      .filter(([word]) => said.has(word))
      // A word that several tools share tells them apart less.
      .map(([word, weight]) => weight / vocabularies.filter((other) => other.get(word) === weight).length)
      .reduce((sum, each) => sum + each, 0);
    return { tool, score: score + (isMentioned(tool.name, plain) ? weights.mentioned : 0) };
  });
  const best = scored.toSorted((one, other) => other.score - one.score)[0];
  return best !== undefined && best.score >= minScore ? best : undefined;
}

/** A name of several words that stands in the sentence as it is, or a name after `use` or `call`. */
function isMentioned(name: string, sentence: string): boolean {
  const lower = sentence.toLowerCase();
  const wanted = name.toLowerCase();
  if (wanted.length > 2 && /[_.-]|\p{Ll}\p{Lu}/u.test(name) && lower.includes(wanted)) return true;
  return ['use ', 'call ', 'use the ', 'call the ', 'using '].some((verb) => {
    const place = lower.indexOf(verb + wanted);
    return place >= 0 && !/[\p{L}\p{N}_-]/u.test(lower.charAt(place + verb.length + wanted.length));
  });
}

/** The words of a tool, each with what it counts. */
function vocabularyOf({ name, description = '', parameters }: ToolDefinition): ReadonlyMap<string, number> {
  const fields = Object.entries(asSchema(asSchema(parameters)['properties'])).flatMap(([field, schema]) => {
    const values = asSchema(schema)['enum'];
    return [field, ...(Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [])];
  });
  const names = plainStemsOf(name).length > 0 ? plainStemsOf(name) : wordsOf(name);
  const synonyms = stemsOf(name).map(asSynonym);
  const words = new Map<string, number>();
  for (const word of plainStemsOf(fields.slice(0, 100).join(' '))) words.set(word, weights.field);
  for (const word of plainStemsOf(description.slice(0, maxDescriptionLength)))
    words.set(word, weights.description);
  for (const word of synonyms) words.set(word, weights.synonym);
  for (const word of names) words.set(word, weights.name);
  return words;
}

/** Synonyms are kept apart from the words themselves, so that both can be counted. */
function asSynonym(stem: string): string {
  return `~${stem}`;
}

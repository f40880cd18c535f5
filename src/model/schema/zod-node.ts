// Table: how zod 3 and zod 4 write down their schemas, as one form.
import { isRecord } from '../../base/json.ts';

/** One zod schema, of whichever version: named and shaped as zod 4 does it, checks as keywords of JSON Schema. */
export interface ZodNode {
  readonly kind: string;
  readonly parts: Parts;
  readonly keywords: Parts;
  readonly description?: string | undefined;
}

type Parts = Readonly<Record<string, unknown>>;

/** Whether something was made by zod 3, of which the versions before 3.24 do not speak Standard Schema. */
export function isZod3(schema: unknown): boolean {
  return zod3Definition(schema) !== undefined;
}

function zod3Definition(schema: unknown): Parts | undefined {
  const def = isRecord(schema) ? schema['_def'] : undefined;
  if (!isRecord(def)) return undefined;
  const { typeName } = def;
  return typeof typeName === 'string' && typeName.startsWith('Zod') ? def : undefined;
}

/** Reads one schema; its members stay as they are. Nothing where it is no schema of zod. */
export function readZodNode(schema: unknown): ZodNode | undefined {
  const older = zod3Definition(schema);
  if (older !== undefined) return readZod3(older);
  const inner = isRecord(schema) ? schema['_zod'] : undefined;
  const def = isRecord(inner) ? inner['def'] : undefined;
  if (!isRecord(def) || typeof def['type'] !== 'string') return undefined;
  const checks = [def, ...listOf(def['checks']).map(checkOf)].filter(isRecord);
  const description: unknown = Reflect.get(schema as object, 'description');
  return {
    kind: def['type'],
    parts:
      def['type'] === 'template_literal' ? { ...def, pattern: Reflect.get(inner as object, 'pattern') } : def,
    keywords: keywordsOf(checks.map((check) => zod4Check(check, def['type'] as string))),
    description: typeof description === 'string' ? description : undefined,
  };
}

function checkOf(check: unknown): unknown {
  return isRecord(check) && isRecord(check['_zod']) ? check['_zod']['def'] : undefined;
}

function readZod3(def: Parts): ZodNode {
  const typeName = String(def['typeName']);
  const [kind, rename] = zod3Kinds[typeName] ?? [typeName];
  const description = def['description'];
  return {
    kind,
    parts: rename === undefined ? def : { coerce: def['coerce'], ...rename(def) },
    keywords: keywordsOf([
      ...listOf(def['checks'])
        .filter(isRecord)
        .map((check) => zod3Check(check, kind)),
      ...zod3Lengths(def),
    ]),
    description: typeof description === 'string' ? description : undefined,
  };
}

type Zod3Kind = readonly [kind: string, rename?: (def: Parts) => Parts];

const inside: Zod3Kind[1] = ({ innerType }) => ({ innerType });

const zod3Kinds: Readonly<Record<string, Zod3Kind>> = {
  ZodString: ['string'],
  ZodNumber: ['number'],
  ZodBoolean: ['boolean'],
  ZodNull: ['null'],
  ZodAny: ['any'],
  ZodUnknown: ['unknown'],
  ZodNever: ['never'],
  ZodDate: ['date'],
  ZodBigInt: ['bigint'],
  ZodMap: ['map'],
  ZodSet: ['set'],
  ZodSymbol: ['symbol'],
  ZodUndefined: ['undefined'],
  ZodVoid: ['void'],
  ZodNaN: ['nan'],
  ZodFunction: ['function'],
  ZodPromise: ['promise'],
  ZodArray: ['array', ({ type }) => ({ element: type })],
  ZodObject: ['object', objectParts],
  ZodUnion: ['union'],
  ZodDiscriminatedUnion: ['union'],
  ZodIntersection: ['intersection'],
  ZodTuple: ['tuple'],
  ZodRecord: ['record'],
  ZodEnum: ['enum', ({ values }) => ({ entries: values })],
  ZodNativeEnum: ['enum', ({ values }) => ({ entries: values })],
  ZodLiteral: ['literal', ({ value }) => ({ values: [value] })],
  ZodOptional: ['optional', inside],
  ZodNullable: ['nullable', inside],
  ZodDefault: ['default', defaultParts],
  ZodCatch: ['catch', inside],
  ZodReadonly: ['readonly', inside],
  ZodBranded: ['readonly', ({ type }) => ({ innerType: type })],
  ZodEffects: ['readonly', ({ schema }) => ({ innerType: schema })],
  ZodPipeline: ['pipe'],
  ZodLazy: ['lazy'],
};

function objectParts({ shape, catchall, unknownKeys }: Parts): Parts {
  const members = valueOf(shape);
  const isOpen = zod3Definition(catchall)?.['typeName'] === 'ZodNever' && unknownKeys !== 'strict';
  return { shape: members, catchall: isOpen ? undefined : catchall };
}

/** zod hands some parts over as functions without arguments. */
export function valueOf(part: unknown): unknown {
  return typeof part === 'function' ? (part as () => unknown)() : part;
}

function defaultParts({ innerType, defaultValue }: Parts): Parts {
  return {
    innerType,
    get defaultValue(): unknown {
      return valueOf(defaultValue);
    },
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A keyword of JSON Schema with its value; nothing for what JSON Schema has no word for: it is still checked by zod. */
type Keyword = readonly [name: string, value: unknown] | undefined;

/** Formats that JSON Schema knows, by the names of both versions. */
const formats: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  guid: 'uuid',
  datetime: 'date-time',
  date: 'date',
  time: 'time',
  duration: 'duration',
  ipv4: 'ipv4',
  ipv6: 'ipv6',
};

function zod4Check(check: Parts, kind: string): Keyword {
  const size = kind === 'array' ? 'Items' : 'Length';
  const { value, inclusive, format } = check;
  switch (check['check']) {
    case 'min_length':
      return [`min${size}`, check['minimum']];
    case 'max_length':
      return [`max${size}`, check['maximum']];
    case 'length_equals':
      return [size, check['length']];
    case 'greater_than':
      return [inclusive === true ? 'minimum' : 'exclusiveMinimum', value];
    case 'less_than':
      return [inclusive === true ? 'maximum' : 'exclusiveMaximum', value];
    case 'multiple_of':
      return ['multipleOf', value];
    case 'number_format':
      return format === 'float32' || format === 'float64' ? undefined : ['type', 'integer'];
    case 'string_format':
      return stringFormat(String(format), check['pattern']);
    default:
      return undefined;
  }
}

function zod3Check(check: Parts, kind: string): Keyword {
  const { value, inclusive } = check;
  const isText = kind === 'string';
  switch (check['kind']) {
    case 'min':
      return isText ? ['minLength', value] : [inclusive === false ? 'exclusiveMinimum' : 'minimum', value];
    case 'max':
      return isText ? ['maxLength', value] : [inclusive === false ? 'exclusiveMaximum' : 'maximum', value];
    case 'length':
      return ['Length', value];
    case 'int':
      return ['type', 'integer'];
    case 'multipleOf':
      return ['multipleOf', value];
    case 'startsWith':
      return ['pattern', `^${quoted(value)}`];
    case 'endsWith':
      return ['pattern', `${quoted(value)}$`];
    case 'includes':
      return check['position'] === undefined ? ['pattern', quoted(value)] : undefined;
    case 'ip':
      return typeof check['version'] === 'string' ? ['format', `ip${check['version']}`] : undefined;
    default:
      return stringFormat(String(check['kind']), check['regex']);
  }
}

function zod3Lengths(def: Parts): readonly Keyword[] {
  const of = (name: string): unknown => (isRecord(def[name]) ? def[name]['value'] : undefined);
  return [
    ['minItems', of('minLength')],
    ['maxItems', of('maxLength')],
    ['Items', of('exactLength')],
  ];
}

/** The pattern of a format that has a name is left out: providers refuse some of what such patterns use. */
function stringFormat(name: string, pattern: unknown): Keyword {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format !== undefined) return ['format', format];
  // Flags change what a pattern means, and JSON Schema has none.
  const isPlain = pattern instanceof RegExp && !/[imsv]/.test(pattern.flags);
  return isPlain && shownPatterns.has(name) ? ['pattern', pattern.source] : undefined;
}

const shownPatterns: ReadonlySet<string> = new Set(['regex', 'starts_with', 'ends_with', 'includes']);

function quoted(text: unknown): string {
  return String(text).replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** All keywords together: of two bounds the narrower, of several patterns all. */
function keywordsOf(found: readonly Keyword[]): Parts {
  const result: Record<string, unknown> = {};
  const patterns: string[] = [];
  for (const keyword of found) {
    if (keyword === undefined || keyword[1] === undefined) continue;
    const [name, value] = keyword;
    if (name === 'pattern' && typeof value === 'string') patterns.push(value);
    else if (name === 'Length' || name === 'Items')
      Object.assign(result, { [`min${name}`]: value, [`max${name}`]: value });
    else result[name] = narrower(name, result[name], value);
  }
  if (patterns.length > 1) result['allOf'] = patterns.map((pattern) => ({ pattern }));
  return patterns.length === 1 ? { ...result, pattern: patterns[0] } : result;
}

function narrower(name: string, before: unknown, value: unknown): unknown {
  if (typeof before !== 'number' || typeof value !== 'number') return value;
  return /^(?:min|exclusiveMin)/.test(name) ? Math.max(before, value) : Math.min(before, value);
}

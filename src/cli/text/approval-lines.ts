import type { CallRequest, PersonRequest } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { provenanceText } from '../../agent/approval/provenance.ts';
import { lineDiff } from '../../base/line-diff.ts';
import type { DiffLine } from '../../base/line-diff.ts';
import { exactJson, visible } from '../../base/printable.ts';
import { editedText } from './edited-text.ts';
import { exactRows, numberedLines } from './exact-rows.ts';
import type { ExactLine } from './exact-rows.ts';
import { layoutRows } from './layout.ts';
import type { Row, Screen } from './layout.ts';

/** What is known besides the request. */
export interface ApprovalFacts {
  /** What the file holds now, for a call that changes one. Absent where there is no such file. */
  readonly preview?: string | undefined;
  /** Of the sandbox that a command would run in. */
  readonly sandboxLabel?: string | undefined;
  /** How this program was called: `npx rerail`. */
  readonly command?: string | undefined;
}

/**
 * What a person is shown before he answers: who asks and why, the exact thing that would happen, and what each answer means. The
 * third argument is what the file holds now, or everything that is known besides.
 *
 * Nothing is redacted here. What is hidden cannot be judged, and a command could pass a part of itself off as a secret.
 */
export function approvalLines(
  request: PersonRequest,
  screen: Screen,
  known: string | ApprovalFacts = {},
): readonly string[] {
  const facts = typeof known === 'string' ? { preview: known } : known;
  if (request.type === 'mend')
    return [...titled(screen, 'Something must be fixed first'), ...why(request, screen)];
  if (request.type === 'question')
    return [...titled(screen, visible(request.question)), ...why(request, screen)];
  return [
    ...titled(screen, titleOf(request)),
    ...why(request, screen),
    ...subject(request, screen, facts),
    ...terms(request, screen),
  ];
}

const labelWidth = 10;
const maxRows = 200;
const shownHashCharacters = 12;

function titled({ paint }: Screen, title: string): readonly string[] {
  return [paint('title', title)];
}

function titleOf({ type, tool }: CallRequest): string {
  const name = visible(tool);
  return type === 'approval' ? `May "${name}" run?` : `Did this call of "${name}" happen?`;
}

function layout(rows: readonly Row[], screen: Screen): readonly string[] {
  return layoutRows(rows, { ...screen, indent: 2, labelWidth });
}

function why(request: PersonRequest, screen: Screen): readonly string[] {
  const isRepaired = request.type === 'approval' && request.isRepaired === true;
  return layout(
    [
      { label: 'why', text: visible(request.why) },
      ...cautions(request),
      ...(isRepaired
        ? [
            {
              label: 'note',
              text: 'The model wrote broken arguments. These were repaired, and would be used.',
            },
          ]
        : []),
    ],
    screen,
  );
}

/** What must not be overlooked, and where the run came from. */
function cautions(request: PersonRequest): readonly Row[] {
  if (!('hash' in request)) return [];
  const { warning, provenance } = request;
  const from = provenance === undefined ? undefined : provenanceText(provenance);
  return [
    ...(warning === undefined
      ? []
      : [{ label: 'caution', text: `${visible(warning)}. They are shown by number.` }]),
    ...(from === undefined
      ? []
      : [{ label: 'caution', text: visible(`${from}. Its author is not known here.`) }]),
  ];
}

/** What would happen, exactly. */
function subject(request: CallRequest, screen: Screen, facts: ApprovalFacts): readonly string[] {
  const { tool, input, id } = request;
  const [runId = ''] = id.split(':', 1);
  const howToSeeAll = `${facts.command ?? 'rerail'} show ${visible(runId)} --json`;
  const rows = (lines: readonly ExactLine[]): readonly string[] =>
    exactRows(lines, { ...screen, maxRows, howToSeeAll });
  if (!isObject(input)) return rows(argumentLines({ input }));
  const { command, path } = input;
  if (tool === 'shell' && typeof command === 'string') {
    const { folder, ...rest } = without(input, 'command');
    return [
      ...rows(numberedLines(command)),
      ...layout(placeRows(folder, facts), screen),
      ...(Object.keys(rest).length === 0 ? [] : rows(argumentLines(rest))),
    ];
  }
  const after = typeof path === 'string' ? textAfter(tool, input, facts.preview) : undefined;
  if (typeof path !== 'string' || after === undefined) return rows(argumentLines(input));
  const { summary, lines } = changeLines(facts.preview, after);
  return [...layout([{ label: 'file', text: `${visible(path)}, ${summary}` }], screen), ...rows(lines)];
}

type Fields = Readonly<Record<string, Json>>;

function isObject(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
}

function placeRows(folder: Json | undefined, { sandboxLabel }: ApprovalFacts): readonly Row[] {
  const place = typeof folder === 'string' ? visible(folder) : 'the root of the workspace';
  return [
    {
      label: 'folder',
      text: folder === undefined || typeof folder === 'string' ? place : exactJson(folder),
    },
    ...(sandboxLabel === undefined ? [] : [{ label: 'sandbox', text: visible(sandboxLabel) }]),
  ];
}

/** One line for each argument, as JSON: exact, and safe to show. */
function argumentLines(input: Fields): readonly ExactLine[] {
  const lines = Object.entries(input).map(([name, value]) => ({
    mark: '',
    text: `${exactJson(name)}: ${exactJson(value)}`,
  }));
  return lines.length === 0 ? [{ mark: '', text: '(no arguments)' }] : lines;
}

function textAfter(tool: string, input: Fields, before: string | undefined): string | undefined {
  const { content } = input;
  if (tool === 'write_file' && typeof content === 'string') return content;
  return tool === 'edit_file' && before !== undefined ? editedText(input, before) : undefined;
}

interface Change {
  readonly summary: string;
  readonly lines: readonly ExactLine[];
}

function changeLines(before: string | undefined, after: string): Change {
  const { hunks, added, removed } = lineDiff(before ?? '', after);
  const counts = `${added.toLocaleString('en-US')} added, ${removed.toLocaleString('en-US')} removed`;
  if (hunks.length === 0) {
    const isNew = before === undefined;
    return { summary: isNew ? 'new and empty' : 'which would stay as it is', lines: [] };
  }
  return {
    summary: before === undefined ? `new: ${counts}` : `changed: ${counts}`,
    lines: hunks.flatMap(({ fromBefore, lines }, index) => [
      ...(index === 0 && fromBefore === 1
        ? []
        : [{ mark: '@', text: `line ${fromBefore}`, style: 'label' as const }]),
      ...lines.flatMap(changeLine),
    ]),
  };
}

const marks = { same: '', added: '+', removed: '-' } as const satisfies Record<DiffLine['type'], string>;

function changeLine({ type, text, isUnended }: DiffLine): readonly ExactLine[] {
  const mark = marks[type];
  const style = type === 'removed' ? 'failure' : 'title';
  const line: ExactLine = type === 'same' ? { mark, text } : { mark, text, style };
  return isUnended === true
    ? [line, { mark: '', text: '(no line break at the end)', style: 'label' }]
    : [line];
}

/** What an answer is bound to, and what each of them means. */
function terms(request: CallRequest, screen: Screen): readonly string[] {
  const hash = { label: 'hash', text: visible(request.hash.slice(0, shownHashCharacters)) };
  if (request.type === 'in-doubt') {
    return layout(
      [
        hash,
        { label: 'happened', text: 'It did happen: it is not made again, and the model is informed.' },
        { label: 'not', text: 'It did not happen: it is made now.' },
        {
          label: 'unknown',
          text: 'Not known: it is not made again, and the model is informed that it is not known.',
        },
      ],
      screen,
    );
  }
  return layout(
    [
      hash,
      { label: 'expires', text: `${timeText(request.expiresAt)}. No answer by then denies it.` },
      { label: 'yes', text: 'Runs exactly this, this once.' },
      { label: 'no', text: 'Runs nothing. The model is informed of the denial.' },
    ],
    screen,
  );
}

const latestMs = 8_640_000_000_000_000;

function timeText(wallMs: number): string {
  if (!(Math.abs(wallMs) <= latestMs)) return 'at a time that cannot be read';
  return `${new Date(wallMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

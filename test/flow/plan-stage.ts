import { z } from 'zod';
import { isRecord } from '../../src/base/json.ts';
import type { Severity } from '../../src/errors/codes.ts';
import { capability } from '../../src/flow/plan/capability.ts';
import { plan } from '../../src/flow/plan/plan.ts';
import type { PlanOptions } from '../../src/flow/plan/plan.ts';
import type { Capability, CapabilityContext, CapabilityOptions } from '../../src/flow/plan/plan-types.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import type { ScriptedModel, ScriptStep } from '../../src/testing/scripted-model.ts';
import { watchedModel } from '../agent/scene.ts';
import type { Stage } from './stage.ts';

// A house whose warmth is read by a sensor, or guessed, and told to somebody. What the model says is written by these functions.

/** What is wrong, by its severity. */
export function trouble(severity: Severity, message = 'it broke'): Error {
  return Object.assign(new Error(message), { severity });
}

type Work = (times: number, context: CapabilityContext) => unknown;

/** How each capability behaves; `times` counts its calls from 1. */
export interface House {
  readonly read?: Work;
  readonly guess?: Work;
  readonly tell?: Work;
  /** What else is said of a capability. */
  readonly about?: Readonly<
    Partial<Record<'read' | 'guess' | 'tell', Partial<CapabilityOptions<never, never>>>>
  >;
}

/** A plan on a stage, and what was done in it. */
export interface Planned {
  readonly made: Agent;
  readonly model: ScriptedModel;
  /** How often each capability was called. */
  readonly done: { read: number; guess: number; tell: number };
  /** What was told. */
  readonly told: unknown[];
  readonly capabilities: readonly Capability[];
}

/** Everything a plan is made of, with a script in the place of its model. */
export interface PlanScene extends House, Omit<Partial<PlanOptions>, 'model'> {
  readonly script: readonly ScriptStep[];
}

/** Makes a plan of the house. */
export function planOf({ world }: Pick<Stage, 'world'>, { script, ...scene }: PlanScene): Planned {
  const model = watchedModel(script);
  const { read, guess, tell, about, ...options } = scene;
  const done = { read: 0, guess: 0, tell: 0 };
  const told: unknown[] = [];
  const house: House = { ...defined({ read, guess, tell, about }) };
  const capabilities = capabilitiesOf(house, { done, told });
  const made = plan({
    capabilities,
    extractTask: false,
    ...world,
    ...options,
    model,
  });
  return { made, model, done, told, capabilities };
}

function defined(house: { readonly [Key in keyof House]: House[Key] | undefined }): House {
  return Object.fromEntries(Object.entries(house).filter(([, value]) => value !== undefined));
}

const warmth = { degrees: z.number() };

function capabilitiesOf(house: House, { done, told }: Pick<Planned, 'done' | 'told'>): readonly Capability[] {
  const { read = () => 21, guess = () => 18, tell = () => undefined, about = {} } = house;
  const classifyError = (error: unknown): { severity: Severity } | undefined =>
    isRecord(error) && 'severity' in error ? { severity: error['severity'] as Severity } : undefined; // See `trouble`.
  const measuring = (name: 'read' | 'guess', work: Work): Capability =>
    capability({
      name,
      description: `Finds out the warmth: ${name}.`,
      provides: warmth,
      effect: 'read',
      classifyError,
      execute: async (_values, context) => {
        done[name] += 1;
        return { degrees: (await work(done[name], context)) as number }; // A wrong one is refused by the schema.
      },
      ...(about[name] as object),
    });
  const telling = capability({
    name: 'tell',
    description: 'Tells somebody the warmth.',
    requires: warmth,
    provides: {},
    classifyError,
    execute: async ({ degrees }, context) => {
      done.tell += 1;
      await tell(done.tell, context);
      told.push(degrees);
    },
    ...(about.tell as object),
  });
  return [measuring('read', read), measuring('guess', guess), telling];
}

/** A step of a plan, as a model writes it. */
export interface WrittenStep {
  readonly key: string;
  readonly capability: string;
  readonly objective: string;
  readonly inputs: readonly { readonly value: string; readonly from: string }[];
}

/** A step that takes the warmth from another one, where one is named. */
export function step(key: string, name: string, from?: string): WrittenStep {
  return {
    key,
    capability: name,
    objective: `Do ${key}.`,
    inputs: from === undefined ? [] : [{ value: 'degrees', from }],
  };
}

/** What the classifier answers. */
export function chose(...capabilities: readonly string[]): string {
  return JSON.stringify({ capabilities, none: '' });
}

/** What the planner answers. */
export function steps(...planned: readonly WrittenStep[]): string {
  return JSON.stringify({ steps: planned, question: '' });
}

/** What the planner answers where it must know more. */
export function asks(question: string): string {
  return JSON.stringify({ steps: [], question });
}

/** What the planner answers, step by step. */
export function next(one?: WrittenStep): string {
  return JSON.stringify({ steps: one === undefined ? [] : [one], isDone: one === undefined, question: '' });
}

/** The usual choice, and the usual plan. */
export const all = chose('read', 'guess', 'tell');
export const usual = steps(step('a', 'read'), step('b', 'tell', 'a'));
/** The plan that does without the sensor. */
export const other = steps(step('c', 'guess'), step('b', 'tell', 'c'));

/** What a model was asked, as one text. */
export function askedIn({ model }: Pick<Planned, 'model'>, index: number): string {
  const text = (model.calls[index]?.request.messages ?? []).map(({ content }) =>
    typeof content === 'string' ? content : JSON.stringify(content),
  );
  return text.join('\n');
}

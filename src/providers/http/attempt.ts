import { onAbort } from '../../base/abort.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { systemClock } from '../../base/system.ts';
import type { Failure } from '../../errors/failure.ts';
import { createAssembly } from '../../model/assembly.ts';
import type { AttemptOptions, ModelResponse } from '../../model/model.ts';
import type { ModelRequest } from '../../model/request.ts';
import { settle } from '../../model/settle.ts';
import { boundOf, checkTimeouts, completeTimeouts, createStreamWatch } from '../../model/stream-watch.ts';
import type { Timeouts } from '../../model/timeouts.ts';
import {
  answeredFailure,
  cancelledFailure,
  credentialsFailure,
  thrownFailure,
  timeoutFailure,
  unwritableFailure,
} from './attempt-failures.ts';
import type { AttemptFacts } from './attempt-failures.ts';
import type { Attempt, AttemptTarget } from './attempt-state.ts';
import { withVerdict } from '../classify-error.ts';
import type { FailureEvidence } from '../classify-error.ts';
import { readResponse } from './read-response.ts';
import { createStop } from './stop.ts';
import type { Stop } from './stop.ts';
import type { TransportResponse } from './transport.ts';

/** Sends the request once and reads the answer. Never rejects, and ends at once when the signal or a timer says so. */
export function runAttempt(
  target: AttemptTarget,
  request: ModelRequest,
  options: AttemptOptions,
): Promise<ModelResponse> {
  return new Promise((resolve) => {
    const wrong = checkTimeouts(options.timeouts);
    if (wrong !== undefined)
      return resolve(settleAs(target, { assembly: createAssembly(), notes: [] }, wrong));
    const course: Course = { phase: 'connect', response: undefined, isEnded: false, evidence: {} };
    const stop = createStop();
    const clock = options.clock ?? systemClock;
    let stopListening: Cancel = () => undefined;
    const timeouts = timeoutsFor(target, options);
    const facts = (): AttemptFacts => factsOf(target, course, clock);
    const attempt: Attempt = {
      target,
      assembly: createAssembly(),
      onPart: options.onPart,
      facts,
      isEnded: () => course.isEnded,
      refusalText: undefined,
      finish: undefined,
      notes: [],
      watch: createStreamWatch(timeouts, {
        clock,
        onExpired: (kind) => expire(attempt, () => timeoutFailure(facts(), kind, boundOf(timeouts, kind))),
      }),
      end: (failure) => {
        if (course.isEnded) return;
        course.isEnded = true;
        attempt.watch.stop();
        stopListening();
        const settled = settleAttempt(attempt, course, failure);
        // A success has read what it wants; a failure leaves nothing running.
        const released = failure === undefined ? course.response?.discard() : undefined;
        const give = (): void => resolve(settled);
        // What is whole stays whole, even where a transport cannot let go of the rest.
        if (released === undefined) give();
        else void released.then(give, give);
        if (failure !== undefined) stop.now();
      },
    };
    const { signal } = options;
    stopListening = onAbort(signal, () => attempt.end(cancelledFailure(facts(), signal?.reason)));
    if (course.isEnded) return undefined;
    perform(attempt, request, { course, stop }).catch((error: unknown) => {
      if (attempt.finish?.('lost') !== true) attempt.end(refusal(attempt) ?? thrownFailure(facts(), error));
    });
    return undefined;
  });
}

/** An answer in one piece has no first token: its first byte comes when all of it is written. */
function timeoutsFor({ isStream }: AttemptTarget, { timeouts }: AttemptOptions): Timeouts {
  const { firstTokenMs, ...others } = completeTimeouts(timeouts);
  return isStream && firstTokenMs !== undefined ? { ...others, firstTokenMs } : others;
}

/** A wait was too long. An answer that has said why it ends is whole, and the words of a refusal say more than the wait. */
function expire(attempt: Attempt, failure: () => Failure): void {
  if (attempt.finish?.('quiet') !== true) attempt.end(refusal(attempt) ?? failure());
}

/** How far an attempt has come; written as it goes. */
interface Course {
  phase: AttemptFacts['phase'];
  response: TransportResponse | undefined;
  isEnded: boolean;
  /** What the latest failure was read from. */
  evidence: Pick<FailureEvidence, 'body' | 'error'>;
}

interface Performance {
  readonly course: Course;
  readonly stop: Stop;
}

async function perform(
  attempt: Attempt,
  request: ModelRequest,
  { course, stop }: Performance,
): Promise<void> {
  const { protocol, wire, endpoint, transport, authorize, maxBodyBytes } = attempt.target;
  const { path, body, headers, notes = [] } = protocol.request(request, wire);
  attempt.notes.push(...notes);
  const written = writeJson(body);
  if (written.type === 'unwritable') return attempt.end(unwritableFailure(attempt.facts(), written.error));
  const credentials = authorize === undefined ? undefined : await authorizeWith(authorize, { attempt, stop });
  if (attempt.isEnded()) return undefined;
  const response = await transport.send(
    { url: endpoint.urlFor(path), headers: endpoint.headersFor(headers, credentials), body: written.text },
    stop.toSendOptions({
      maxBodyBytes,
      onReconnected: () => attempt.notes.push({ type: 'reconnected' }),
      onConnected: () => {
        if (course.phase !== 'connect') return;
        course.phase = 'headers';
        attempt.watch.connected();
      },
    }),
  );
  if (attempt.isEnded()) return void response.discard();
  course.phase = 'body';
  course.response = response;
  attempt.watch.headers();
  return readResponse(attempt, response);
}

type Written =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'unwritable'; readonly error: unknown };

function writeJson(body: object): Written {
  try {
    return { type: 'text', text: JSON.stringify(body) };
  } catch (error) {
    return { type: 'unwritable', error };
  }
}

async function authorizeWith(
  authorize: NonNullable<AttemptTarget['authorize']>,
  { attempt, stop }: { readonly attempt: Attempt; readonly stop: Stop },
): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return await authorize({ signal: stop.signal() });
  } catch (error) {
    attempt.end(credentialsFailure(attempt.facts(), error));
    return undefined;
  }
}

function refusal(attempt: Attempt): Failure | undefined {
  const text = attempt.refusalText;
  return text === undefined ? undefined : answeredFailure(attempt.facts(), text());
}

function settleAttempt(attempt: Attempt, course: Course, failure: Failure | undefined): ModelResponse {
  const { target } = attempt;
  return withVerdict(settleAs(target, attempt, failure), target.classifyError, () => evidenceOf(course));
}

function evidenceOf({ response, evidence }: Course): FailureEvidence {
  return defined({ status: response?.status, headers: response?.headers, ...evidence });
}

function factsOf(
  { wire, transport, classifyError }: AttemptTarget,
  course: Course,
  clock: Clock,
): AttemptFacts {
  const keep = classifyError && ((evidence: Course['evidence']): void => void (course.evidence = evidence));
  return {
    provider: wire.provider,
    model: wire.model,
    phase: course.phase,
    status: course.response?.status,
    headers: course.response?.headers,
    hidesConnection: transport.hidesConnection,
    wallMs: clock.wallMs(),
    keep,
  };
}

function settleAs(
  { wire, price, refine }: AttemptTarget,
  { assembly, notes }: Pick<Attempt, 'assembly' | 'notes'>,
  found: Failure | undefined,
): ModelResponse {
  const failure = found === undefined || refine === undefined ? found : refine(found);
  return settle(assembly.read(), { provider: wire.provider, model: wire.model, price, failure, notes });
}

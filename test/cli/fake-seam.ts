import type { AgentSeam } from '../../src/cli/run-reading/agent-seam.ts';
import type { ChosenModel, Settings } from '../../src/cli/config/settings.ts';
import type { RunAnswer, RunEvent, PersonRequest } from '../../src/index.ts';
import { createRunView } from '../../src/cli/view/create-run-view.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import { openStories } from './run-stories.ts';
import type { StoryOptions } from './run-stories.ts';

export interface SeamOptions {
  readonly file: string;
  /** What the model of whoever goes on answers. */
  readonly script?: readonly ScriptStep[];
  readonly options?: StoryOptions;
  /** How long after the beginning of the stories. */
  readonly afterMs?: number;
  readonly models?: readonly ChosenModel[];
  /** The person at the terminal. */
  readonly ask?: (request: PersonRequest) => RunAnswer | undefined;
}

/** The agent of the stories in the place of the one of the settings. */
export function fakeSeam(given: SeamOptions): AgentSeam & { readonly heard: readonly RunEvent[] } {
  const { file, script = ['Done.'], options = {}, afterMs = 4_000_000, models = [], ask } = given;
  const heard: RunEvent[] = [];
  return {
    heard,
    loadSettings: () =>
      Promise.resolve({
        storeFile: file,
        workspace: '/somewhere',
        models,
        origins: [],
      } as unknown as Settings), // All that is read.
    runBelongsHere: () => Promise.resolve({ type: 'here' }),
    openAgent: () => {
      const stories = openStories(file);
      stories.clock.move(afterMs);
      const agent = stories.agent(script, options);
      return Promise.resolve({ agent, store: sqlite(file, { clock: stories.clock }), close: stories.close });
    },
    requestFacts: (_settings, _request, { command }) => Promise.resolve({ command }),
    createRunView: (io, viewOptions) => {
      const view = createRunView(io, viewOptions);
      const hear = (event: RunEvent): void => {
        heard.push(event);
        view.hear(event);
      };
      return Promise.resolve(
        ask === undefined
          ? { ...view, hear }
          : { ...view, hear, ask: (request) => Promise.resolve(ask(request)) },
      );
    },
  };
}

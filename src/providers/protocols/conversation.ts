import { unreachable } from '../../base/assert.ts';
import { partsOf } from '../../model/message.ts';
import type { AssistantPart, Message, TextPart, ToolResultPart, UserPart } from '../../model/message.ts';

/** A history as protocols with alternating turns want it. */
export interface Conversation {
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
}

/** All that one side said before the other spoke. The results of tools stand before whatever the person added. */
export type Turn =
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  | {
      readonly role: 'user';
      readonly results: readonly ToolResultPart[];
      readonly parts: readonly UserPart[];
    };

/** Takes the system's words out of a history and joins neighbours that speak for the same side. */
export function toConversation(messages: readonly Message[]): Conversation {
  const system: TextPart[] = [];
  const turns: OpenTurn[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        system.push(...partsOf(message.content));
        break;
      case 'assistant':
        lastTurn(turns, 'assistant').said.push(...partsOf(message.content));
        break;
      case 'user':
        lastTurn(turns, 'user').parts.push(...partsOf(message.content));
        break;
      case 'tool':
        lastTurn(turns, 'user').results.push(...message.content);
        break;
      default:
        return unreachable(message);
    }
  }
  return { system, turns: turns.map(closeTurn) };
}

interface OpenTurn {
  readonly role: Turn['role'];
  readonly said: AssistantPart[];
  readonly results: ToolResultPart[];
  readonly parts: UserPart[];
}

function lastTurn(turns: OpenTurn[], role: Turn['role']): OpenTurn {
  const last = turns.at(-1);
  if (last?.role === role) return last;
  const turn: OpenTurn = { role, said: [], results: [], parts: [] };
  turns.push(turn);
  return turn;
}

function closeTurn({ role, said, results, parts }: OpenTurn): Turn {
  return role === 'assistant' ? { role, parts: said } : { role, results, parts };
}

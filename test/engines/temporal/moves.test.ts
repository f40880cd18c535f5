import { temporal } from '../../../src/engines/temporal/temporal.ts';
import { describeMoves } from '../moves.ts';
import { openBackend } from './backend.ts';

describeMoves('temporal', async () => {
  const { options, close } = await openBackend('agents');
  return { place: () => ({ engine: temporal(options) }), close: async () => close() };
});

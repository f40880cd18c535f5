import { restate } from '../../../src/engines/restate/index.ts';
import { describeMoves } from '../moves.ts';
import { installRestate } from './install.ts';
import { freePort, startRestate } from './server.ts';

describeMoves('restate', async () => {
  const { sdk } = installRestate();
  const { ingressUrl, adminUrl, stop } = await startRestate();
  const port = await freePort();
  const limits = { closeWaitMs: 1 };
  return {
    place: () => ({ engine: restate({ ingressUrl, adminUrl, serve: { port }, sdk, limits }) }),
    close: stop,
  };
});

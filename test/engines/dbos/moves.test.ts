import { startPostgres } from '../../postgres/start-postgres.ts';
import { dbos } from '../../../src/engines/dbos/index.ts';
import { describeMoves } from '../moves.ts';
import { findDbos } from './find-dbos.ts';
import { quiet } from './scene.ts';

describeMoves('dbos', async () => {
  const postgres = await startPostgres();
  const databaseUrl = await postgres.createDatabase();
  const engine = dbos({ databaseUrl, executorId: 'moves', logger: quiet, ...findDbos() });
  return { place: () => ({ engine }), close: () => postgres.stop() };
});

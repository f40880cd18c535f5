// The other side of bench/model.mjs, in a process of its own so that its CPU is not counted: answers at once.
import { createServer } from 'node:http';

/**
 * One event of a stream in the form of OpenAI's chat completions.
 *
 * @param {object} fields
 */
function eventOf(fields) {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1760000000, model: 'instant' };
  return `data: ${JSON.stringify({ ...base, ...fields })}\n\n`;
}

const opening = eventOf({
  choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
});
const piece = eventOf({ choices: [{ index: 0, delta: { content: 'some words ' }, finish_reason: null }] });
const closing = [
  eventOf({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  eventOf({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 } }),
  'data: [DONE]\n\n',
].join('');

const server = createServer((request, response) => {
  const count = Number(new URL(request.url ?? '/', 'http://localhost').pathname.split('/')[1]);
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (count <= 8) {
      response.end(opening + piece.repeat(count) + closing);
      return;
    }
    response.write(opening);
    writePieces(response, count);
  });
});

/**
 * Every piece in a chunk of its own, as providers send them, and never more than the reader takes.
 *
 * @param {import('node:http').ServerResponse} response
 * @param {number} left
 */
function writePieces(response, left) {
  let rest = left;
  while (rest > 0) {
    rest -= 1;
    if (!response.write(piece)) {
      response.once('drain', () => writePieces(response, rest));
      return;
    }
  }
  response.end(closing);
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => process.exit(0));

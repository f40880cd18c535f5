import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTextTokens } from './text-tokens.ts';

/** Typical texts. The count is that of cl100k or o200k, whichever is higher. */
const texts = [
  {
    name: 'English prose',
    tokens: 97,
    text: 'The old lighthouse keeper had not spoken to anyone for eleven days when the boat finally came round the headland. He watched it from the gallery, one hand on the cold rail, and tried to remember what he had meant to ask for. Paraffin, certainly; flour, if the store had any; and news of his sister, who had promised to write before the winter storms closed the harbour. The wind was rising, and he knew that they would not stay long.',
  },
  {
    name: 'a chat question',
    tokens: 48,
    text: 'Hi, I ordered a blue jacket last Tuesday and it still says "processing". Can you check whether it has shipped, and if not, cancel it and refund me to the original card? My order number is 48213-AB.',
  },
  {
    name: 'technical English',
    tokens: 74,
    text: 'A write-ahead log is flushed before the page it describes, so that recovery can redo committed transactions and undo the rest. Checkpoints bound the length of the log that must be replayed. When two writers contend for the same page, the second one waits on a latch; deadlocks are detected by a wait-for graph and resolved by aborting the youngest transaction.',
  },
  {
    name: 'Markdown',
    tokens: 115,
    text: '# Release notes\n\n## 2.4.0 (2026-03-01)\n\n- **Added**: `retry()` takes a *signal* and obeys it while it sleeps.\n- **Fixed**: a stream that ended without its last event was taken for complete (#1234).\n- Removed the deprecated option `--force`.\n\n| option | default | meaning |\n|---|---|---|\n| `maxAttempts` | 4 | the first one counted |\n| `baseDelayMs` | 1000 | doubles up to the maximum |\n',
  },
  {
    name: 'compact JSON',
    tokens: 128,
    text: '{"id":"ord_48213","status":"processing","customer":{"name":"Ada Meyer","email":"ada.meyer@example.org","address":{"street":"12 Mill Lane","city":"Bristol","postcode":"BS1 4DJ"}},"items":[{"sku":"JKT-BLU-M","quantity":1,"price":89.9},{"sku":"SCK-WHT-3","quantity":2,"price":7.5}],"total":104.9,"currency":"GBP","createdAt":"2026-02-24T09:13:55.120Z","tags":["web","first-order"]}',
  },
  {
    name: 'pretty JSON',
    tokens: 192,
    text: '{\n  "name": "rerail",\n  "version": "0.1.0",\n  "type": "module",\n  "exports": {\n    ".": {\n      "types": "./dist/index.d.ts",\n      "default": "./dist/index.js"\n    },\n    "./errors": {\n      "types": "./dist/errors/index.d.ts",\n      "default": "./dist/errors/index.js"\n    }\n  },\n  "scripts": {\n    "build": "tsc -p tsconfig.build.json",\n    "test": "vitest run",\n    "check": "npm run lint && npm run test"\n  },\n  "engines": {\n    "node": ">=20.19"\n  },\n  "devDependencies": {\n    "typescript": "5.9.2",\n    "vitest": "4.0.1",\n    "fast-check": "4.1.0"\n  }\n}',
  },
  {
    name: 'TypeScript',
    tokens: 106,
    text: 'export async function withTimeout<T>(work: (signal: AbortSignal) => Promise<T>, options: TimeoutOptions): Promise<T> {\n  const { timeoutMs, clock, signal } = options;\n  const controller = new AbortController();\n  const stop = clock.after(timeoutMs, () => controller.abort(new TimeoutError(timeoutMs)));\n  try {\n    return await Promise.race([work(controller.signal), rejectOnAbort(controller.signal)]);\n  } finally {\n    stop();\n    signal?.throwIfAborted();\n  }\n}\n',
  },
  {
    name: 'Python',
    tokens: 131,
    text: 'import asyncio\nfrom dataclasses import dataclass, field\n\n\n@dataclass\nclass Bucket:\n    capacity: int\n    tokens: float = field(default=0.0)\n\n    async def take(self, count: int = 1) -> bool:\n        """Takes tokens if there are enough of them."""\n        if self.tokens < count:\n            await asyncio.sleep(0.05 * (count - self.tokens))\n            return False\n        self.tokens -= count\n        return True\n\n\nif __name__ == "__main__":\n    bucket = Bucket(capacity=10, tokens=3)\n    print(asyncio.run(bucket.take(2)))\n',
  },
  {
    name: 'log lines',
    tokens: 162,
    text: '2026-03-01T12:00:01.532Z INFO  [http] GET /v1/orders/48213 200 34ms request_id=req_8f2ac91d\n2026-03-01T12:00:02.010Z WARN  [retry] attempt 2 of 4 failed: ECONNRESET, waiting 1983 ms\n2026-03-01T12:00:04.121Z ERROR [db] could not obtain lock on row in relation "orders" (code 55P03)\n2026-03-01T12:00:04.122Z INFO  [http] POST /v1/refunds 500 2103ms request_id=req_8f2ac91e\n',
  },
  {
    name: 'CSV',
    tokens: 104,
    text: 'date,region,product,units,revenue\n2026-01-03,North,A-100,17,1530.50\n2026-01-04,South,A-100,4,360.00\n2026-01-04,North,B-220,112,20160.75\n2026-01-05,West,C-301,58,4872.20\n2026-01-06,East,B-220,9,1620.00\n',
  },
  {
    name: 'stack trace',
    tokens: 98,
    text: "TypeError: Cannot read properties of undefined (reading 'callId')\n    at settleCall (file:///app/dist/agent/settle-call.js:41:23)\n    at transition (file:///app/dist/agent/transition.js:118:14)\n    at Array.reduce (<anonymous>)\n    at drive (file:///app/dist/runtime/drive.js:77:31)\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)\n",
  },
  {
    name: 'directory listing',
    tokens: 150,
    text: 'total 88\ndrwxr-xr-x  9 app app  4096 Mar  1 12:00 .\ndrwxr-xr-x  3 app app  4096 Feb 11 08:41 ..\n-rw-r--r--  1 app app  1823 Feb 28 17:20 README.md\n-rw-r--r--  1 app app 31877 Mar  1 11:58 package-lock.json\ndrwxr-xr-x 14 app app  4096 Mar  1 11:59 src\n-rwxr-xr-x  1 app app   612 Feb 11 08:41 start.sh\n',
  },
  {
    name: 'HTML',
    tokens: 119,
    text: '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Orders</title><link rel="stylesheet" href="/assets/main.css"></head>\n<body>\n<table class="orders"><thead><tr><th>Number</th><th>Status</th></tr></thead>\n<tbody><tr data-id="48213"><td>48213-AB</td><td><span class="badge badge-warning">processing</span></td></tr></tbody></table>\n<script src="/assets/app.js" defer></script>\n</body>\n</html>\n',
  },
  {
    name: 'SQL',
    tokens: 89,
    text: "SELECT c.name, COUNT(o.id) AS order_count, SUM(o.total_cents) / 100.0 AS revenue\nFROM customers c\nLEFT JOIN orders o ON o.customer_id = c.id AND o.created_at >= NOW() - INTERVAL '30 days'\nWHERE c.deleted_at IS NULL\nGROUP BY c.id, c.name\nHAVING COUNT(o.id) > 3\nORDER BY revenue DESC\nLIMIT 50;\n",
  },
  {
    name: 'a diff',
    tokens: 110,
    text: "diff --git a/src/app.ts b/src/app.ts\nindex 3f1c2ab..9e01d77 100644\n--- a/src/app.ts\n+++ b/src/app.ts\n@@ -12,7 +12,8 @@ export function start(options: Options) {\n   const server = createServer(options);\n-  server.listen(3000);\n+  const port = options.port ?? 3000;\n+  server.listen(port, () => log.info({ port }, 'listening'));\n   return server;\n }\n",
  },
  {
    name: 'URLs',
    tokens: 73,
    text: 'https://www.example.com/shop/products/jackets?color=blue&size=m&page=2\nhttps://api.example.org/v1/orders/48213/events?after=evt_000123&limit=50\nhttps://docs.example.net/guides/getting-started#install-the-package\nhttp://localhost:8080/health?verbose=true\n',
  },
  {
    name: 'shouted identifiers',
    tokens: 41,
    text: 'RATE_LIMITED QUOTA_EXCEEDED SERVER_ERROR NETWORK_ERROR CONTEXT_LENGTH_EXCEEDED REQUEST_TOO_LARGE CONTENT_FILTERED INVALID_REQUEST EMPTY_RESPONSE STREAM_INTERRUPTED TOOL_CALL_INVALID MAX_ITERATIONS_EXCEEDED',
  },
  {
    name: 'hexadecimal',
    tokens: 95,
    text: '3b4f9a1c77de20815fe6c0b2a94d13e8 9d2c41f07ab8e653 0x7ffeefbff5c8 f47ac10b-58cc-4372-a567-0e02b2c3d479 6ba7b810-9dad-11d1-80b4-00c04fd430c8',
  },
  {
    name: 'base64',
    tokens: 67,
    text: 'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==',
  },
  {
    name: 'numbers',
    tokens: 61,
    text: '3.14159265358979 2.71828182845905 1.61803398874989 0.57721566490153 1.41421356237310 299792458 6.62607015e-34 1.602176634e-19',
  },
  {
    name: 'German',
    tokens: 102,
    text: 'Der alte Leuchtturmwärter hatte seit elf Tagen mit niemandem gesprochen, als das Boot endlich um die Landspitze kam. Er beobachtete es von der Galerie aus, eine Hand am kalten Geländer, und versuchte sich zu erinnern, worum er hatte bitten wollen. Die Geschwindigkeitsbegrenzung und die Datenschutzgrundverordnung gelten selbstverständlich auch für Fahrzeugführer.',
  },
  {
    name: 'French',
    tokens: 87,
    text: "Le vieux gardien du phare n'avait parlé à personne depuis onze jours lorsque le bateau contourna enfin le cap. Il le regardait depuis la galerie, une main posée sur la rambarde froide, et cherchait à se rappeler ce qu'il avait voulu demander. Du pétrole, bien sûr ; de la farine, si le magasin en avait encore.",
  },
  {
    name: 'Spanish',
    tokens: 84,
    text: 'El viejo farero llevaba once días sin hablar con nadie cuando por fin apareció el barco. Lo observaba desde la galería, con una mano en la barandilla fría, e intentaba recordar qué había querido pedir: petróleo, harina y noticias de su hermana, que había prometido escribir antes de las tormentas del invierno.',
  },
  {
    name: 'Portuguese',
    tokens: 91,
    text: 'O velho faroleiro não falava com ninguém havia onze dias quando o barco finalmente contornou o cabo. Observava-o da galeria, com uma mão no corrimão frio, e tentava lembrar-se do que queria pedir: petróleo, farinha e notícias da irmã, que prometera escrever antes das tempestades de inverno.',
  },
  {
    name: 'Polish',
    tokens: 100,
    text: 'Stary latarnik od jedenastu dni nie rozmawiał z nikim, kiedy łódź wreszcie wyłoniła się zza przylądka. Patrzył na nią z galerii, trzymając rękę na zimnej poręczy, i próbował sobie przypomnieć, o co chciał poprosić: o naftę, mąkę i wieści od siostry.',
  },
  {
    name: 'Turkish',
    tokens: 109,
    text: 'Yaşlı deniz feneri bekçisi, tekne nihayet burnu döndüğünde on bir gündür kimseyle konuşmamıştı. Soğuk korkuluğa dayanmış onu izliyor, ne isteyeceğini hatırlamaya çalışıyordu: gaz yağı, un ve kış fırtınalarından önce yazacağına söz veren kız kardeşinden haber.',
  },
  {
    name: 'Vietnamese',
    tokens: 98,
    text: 'Người gác hải đăng già đã mười một ngày không nói chuyện với ai khi con thuyền cuối cùng cũng vòng qua mũi đất. Ông nhìn nó từ ban công, một tay đặt lên lan can lạnh giá, và cố nhớ xem mình định xin những gì.',
  },
  {
    name: 'Russian',
    tokens: 119,
    text: 'Старый смотритель маяка одиннадцать дней ни с кем не разговаривал, когда лодка наконец обогнула мыс. Он смотрел на неё с галереи, положив руку на холодные перила, и пытался вспомнить, о чём хотел попросить: керосин, мука и вести от сестры.',
  },
  {
    name: 'Greek',
    tokens: 184,
    text: 'Ο γέρος φαροφύλακας δεν είχε μιλήσει σε κανέναν για έντεκα μέρες, όταν η βάρκα φάνηκε επιτέλους. Την κοίταζε από τον εξώστη, με το ένα χέρι στο κρύο κάγκελο, και προσπαθούσε να θυμηθεί τι ήθελε να ζητήσει.',
  },
  {
    name: 'Chinese',
    tokens: 144,
    text: '老灯塔看守人已经十一天没有和任何人说过话了，这时小船终于绕过了海岬。他站在回廊上看着它，一只手扶着冰冷的栏杆，努力回想自己原本想要什么：煤油当然要，如果店里有面粉也要一些，还有妹妹的消息，她答应在冬天的风暴封港之前写信来。',
  },
  {
    name: 'traditional Chinese',
    tokens: 105,
    text: '老燈塔看守人已經十一天沒有和任何人說過話了，這時小船終於繞過了海岬。他站在迴廊上看著它，一隻手扶著冰冷的欄杆，努力回想自己原本想要什麼。',
  },
  {
    name: 'Japanese',
    tokens: 119,
    text: '年老いた灯台守は、船がようやく岬を回ってきたとき、もう十一日も誰とも話していなかった。彼は冷たい手すりに片手を置いて回廊からそれを眺め、何を頼むつもりだったのかを思い出そうとした。コンピューターのエラーメッセージを確認してください。',
  },
  {
    name: 'Korean',
    tokens: 111,
    text: '늙은 등대지기는 배가 마침내 곶을 돌아 나타났을 때 열하루 동안 아무와도 말을 하지 않았다. 그는 차가운 난간에 한 손을 얹고 회랑에서 배를 바라보며 무엇을 부탁하려 했는지 떠올리려고 애썼다.',
  },
  {
    name: 'Arabic',
    tokens: 115,
    text: 'لم يتحدث حارس المنارة العجوز إلى أحد منذ أحد عشر يوما عندما ظهر القارب أخيرا حول الرأس. كان يراقبه من الشرفة ويده على السور البارد، ويحاول أن يتذكر ما الذي أراد أن يطلبه.',
  },
  {
    name: 'Hebrew',
    tokens: 142,
    text: 'שומר המגדלור הזקן לא דיבר עם איש אחד עשר ימים כאשר הסירה הקיפה סוף סוף את הכף. הוא צפה בה מהמרפסת, ידו על המעקה הקר, וניסה להיזכר מה רצה לבקש.',
  },
  {
    name: 'Hindi',
    tokens: 195,
    text: 'बूढ़े प्रकाशस्तंभ रक्षक ने ग्यारह दिनों से किसी से बात नहीं की थी, जब नाव आखिरकार अंतरीप के पास दिखाई दी। वह ठंडी रेलिंग पर हाथ रखे उसे देखता रहा और याद करने की कोशिश करता रहा कि उसे क्या माँगना था।',
  },
  {
    name: 'Thai',
    tokens: 133,
    text: 'ชายชราผู้เฝ้าประภาคารไม่ได้พูดคุยกับใครมาสิบเอ็ดวันแล้วเมื่อเรือลำนั้นอ้อมแหลมมาถึงในที่สุด เขามองดูมันจากระเบียง มือข้างหนึ่งวางบนราวที่เย็นเฉียบ',
  },
  {
    name: 'emoji',
    tokens: 52,
    text: '🚀🎉 Shipped! 👍🏽 Thanks to 👩‍💻 and 👨‍🔧 — see you at the 🍕 party 🥳🥳 on Friday 📅 ❤️',
  },
  {
    name: 'a mixed tool result',
    tokens: 70,
    text: '{"ok":true,"path":"src/agent/turn/climb.ts","matches":[{"line":83,"text":"type Compacted = ReturnType<typeof compactHistory>;"},{"line":86,"text":"  return compactHistory(messagesOf(state.history), { keepLastMessages: keptMessages });"}],"truncated":false,"durationMs":12}',
  },
  {
    name: 'escaped JSON',
    tokens: 60,
    text: '"{\\"command\\":\\"npm test -- --run\\",\\"cwd\\":\\"/app\\",\\"env\\":{\\"CI\\":\\"1\\"},\\"output\\":\\"> app@1.0.0 test\\\\n> vitest run\\\\n\\\\n ✓ src/a.test.ts (3 tests) 4ms\\\\n\\"}"',
  },
];

describe('estimateTextTokens()', () => {
  it.each(texts)('is not far below the count of $name', ({ text, tokens }) => {
    expect(estimateTextTokens(text) / tokens).toBeGreaterThanOrEqual(0.9);
  });

  it.each(texts)('is not far above the count of $name', ({ text, tokens }) => {
    expect(estimateTextTokens(text) / tokens).toBeLessThanOrEqual(1.3);
  });

  it('is close to the count over all of them together', () => {
    const estimate = texts.reduce((sum, { text }) => sum + estimateTextTokens(text), 0);
    const tokens = texts.reduce((sum, { tokens: count }) => sum + count, 0);
    expect(estimate / tokens).toBeGreaterThan(1);
    expect(estimate / tokens).toBeLessThan(1.2);
  });

  it.each(texts)('judges a very long text of $name by samples of it', ({ text }) => {
    const many = text.repeat(Math.ceil(200_000 / text.length));
    const each = estimateTextTokens(text) / text.length;
    expect(estimateTextTokens(many) / many.length / each).toBeGreaterThan(0.9);
    expect(estimateTextTokens(many) / many.length / each).toBeLessThan(1.1);
  });

  it('does not look at every character of a huge text', () => {
    let looked = 0;
    const huge = {
      length: 50_000_000,
      charCodeAt: () => {
        looked += 1;
        return 97;
      },
    };
    expect(estimateTextTokens(huge as unknown as string)).toBeGreaterThan(1_000_000);
    expect(looked).toBeLessThan(20_000);
  });

  it('gives 0 for no text and a whole number from 0 for any', () => {
    expect(estimateTextTokens('')).toBe(0);
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { maxLength: 300 }), (units) => {
        const text = String.fromCharCode(...units);
        const tokens = estimateTextTokens(text);
        expect(Number.isSafeInteger(tokens) && tokens >= 0).toBe(true);
        expect(tokens).toBeLessThanOrEqual(text.length * 3);
      }),
    );
  });
});

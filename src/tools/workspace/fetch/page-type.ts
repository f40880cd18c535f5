/** A page's type as its headers say it. */
export interface PageType {
  /** In lower case; empty where nothing is said. */
  readonly media: string;
  readonly charset: string | undefined;
}

/** Reads `content-type`. */
export function readPageType(header: string | undefined): PageType {
  const [first = '', ...parameters] = (header ?? '').slice(0, 500).split(';');
  const media = first
    .trim()
    .toLowerCase()
    .replaceAll(/[^\w/+.-]/g, '')
    .slice(0, 100);
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { media, charset };
}

/** Whether it is something to read: text, JSON or XML of any kind. Nothing said is looked at. */
export function isReadable({ media }: PageType): boolean {
  return media === '' || /^text\/|^application\/(json|xml|x-ndjson|ndjson)$|[+](json|xml)$/.test(media);
}

/** Whether it is a page of HTML. */
export function isHtml({ media }: PageType, text: string): boolean {
  if (media === '') return /^\s{0,100}<(!doctype html|html)/i.test(text);
  return media === 'text/html' || media === 'application/xhtml+xml';
}

/** The text of a page: by its byte order mark, its header, what it says of itself, else UTF-8. Nothing where it is no text. */
export function decodePage(bytes: Buffer, type: PageType): string | undefined {
  const label = markOf(bytes) ?? type.charset ?? declaredCharset(bytes) ?? 'utf-8';
  const decoder = decoderOf(label);
  const text = decoder.decode(bytes);
  return text.slice(0, 4000).includes('\0') ? undefined : text;
}

function markOf(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}

function declaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 1024).toString('latin1');
  const found = /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(head);
  return (found ?? /^<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head))?.[1];
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder(); // A name that nobody knows says nothing; nearly every page is UTF-8.
  }
}

import type { FilePart, ImagePart, ToolResultPart } from '../../model/message.ts';

/** A URL for the bytes: their own address, or a `data:` URL. */
export function mediaUrl({ mediaType, source }: ImagePart | FilePart): string {
  return source.type === 'url' ? source.url : `data:${mediaType};base64,${source.data}`;
}

/** OpenAI wants a file name with every file, and looks at its ending. */
export function fileName({ name, mediaType }: FilePart): string {
  return name ?? `file.${mediaType.split('/').at(-1)}`;
}

const errorPrefix = 'The tool failed: ';

/** The text of a tool's result. Neither protocol can mark a result as an error, so the text says it. */
export function toolResultText({ content, isError }: ToolResultPart): string {
  const prefix = isError === true ? errorPrefix : '';
  if (typeof content === 'string') return prefix + content;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return prefix + texts.join('\n');
}

/** The images of a tool's result. */
export function toolResultImages({ content }: ToolResultPart): readonly ImagePart[] {
  return typeof content === 'string' ? [] : content.filter((part) => part.type === 'image');
}

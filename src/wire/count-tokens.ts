// What there is to count in a conversation where no provider counts it: every text the model would read, for a
// tokenizer, and how much there is beside texts.
import type { Conversation, Message, Tool } from '../core/request.ts'

export type Readable = {
  readonly texts: readonly string[]
  readonly images: number
  /** Bytes of files whose text only the provider can read, and files it fetches itself. */
  readonly fileBytes: number
  readonly remoteFiles: number
}

export function readableOf(request: Conversation): Readable {
  const parts = request.messages.flatMap((message): readonly Part[] => message.parts)
  const files = parts.flatMap((part) => (part.type === 'file' ? [part.source] : []))
  const { outputFormat } = request
  const schema = outputFormat?.type === 'json-schema' ? [JSON.stringify(outputFormat.schema)] : []
  return {
    texts: [...request.tools.flatMap(textsOfTool), ...parts.flatMap(textsOfPart), ...schema],
    images: parts.filter((part) => part.type === 'image').length,
    fileBytes: files.reduce((sum, source) => sum + bytesOf(source), 0),
    remoteFiles: files.filter((source) => source.type === 'url').length,
  }
}

type Part = Message['parts'][number]

function textsOfPart(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return [part.text]
    case 'tool-call':
      return [part.name, part.input]
    case 'file':
      return part.source.type === 'text' ? [part.source.text] : []
    case 'image':
    case 'audio':
      return []
  }
}

function textsOfTool(tool: Tool): string[] {
  const rule = tool.type === 'function' ? tool.schema : tool.inputFormat
  return [tool.name, tool.description ?? '', rule === undefined ? '' : JSON.stringify(rule)]
}

function bytesOf(source: { readonly type: string; readonly data?: string }): number {
  return source.type === 'base64' ? Buffer.byteLength(source.data ?? '', 'base64') : 0
}

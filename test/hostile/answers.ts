// What a well-behaved provider of the chat format sends, whole and streamed, as raw HTTP: the hostile ones send parts
// of it, or too much.

export const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }

export function whole(counts: { readonly usage?: object | null } = { usage: USAGE }): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'hostile',
    choices: [
      { index: 0, message: { role: 'assistant', content: SENTENCE }, finish_reason: 'stop' },
    ],
    ...counts,
  })
}

export const SENTENCE = 'The gate opens at noon – ünless it does not. 🚪'

const PIECES = ['The gate ', 'opens at noon ', '– ünless ', 'it does not. 🚪']

/** The events of a stream: the start, one per piece of text, the finish, the usage, the end marker. */
export const EVENTS = {
  start: chunk({ role: 'assistant', content: '' }),
  pieces: PIECES.map(textEvent),
  finish: chunk({}, 'stop'),
  usage: usageEvent(USAGE),
  done: 'data: [DONE]\n\n',
}

export const STREAM = [
  EVENTS.start,
  ...EVENTS.pieces,
  EVENTS.finish,
  EVENTS.usage,
  EVENTS.done,
].join('')

export function usageEvent(usage: object | null): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'hostile', choices: [], usage })}\n\n`
}

export function textEvent(content: string): string {
  return chunk({ content })
}

export function callEvent(index: number, text: string): string {
  const call = { index, id: `call_${index}`, type: 'function' }
  return chunk({ tool_calls: [{ ...call, function: { name: 'f', arguments: text } }] })
}

function chunk(delta: object, reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }]
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'hostile', choices })}\n\n`
}

export const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'

/** One chunk of a body whose length is unknown beforehand. */
export function chunked(text: string | Uint8Array): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ])
}

export const CHUNKED_END = '0\r\n\r\n'

export function message(
  body: string | Uint8Array,
  {
    status = '200 OK',
    type = 'application/json',
    length = Buffer.byteLength(body),
    more = '',
  } = {},
): Buffer {
  const head = `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n${more}\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

// The constant answers of the upstream: a short chat answer, the same as a stream of a hundred events, and an embedding
// of the usual size.

const COMMON = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'constant' }
/** What each whole answer and each stream says it took. */
export const USAGE = { prompt_tokens: 60, completion_tokens: 100, total_tokens: 160 }
const WORDS = 'the toll was paid before the gate went up and so nobody had to argue about it'.split(
  ' ',
)
const EVENTS = 100

export const CHAT_ANSWER = JSON.stringify({
  ...COMMON,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: textOf(EVENTS), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: USAGE,
})

/** As sent in the stream, framing included. */
export const CHAT_EVENTS: readonly string[] = [
  event({ choices: [choice({ role: 'assistant', content: '' })] }),
  ...Array.from({ length: EVENTS - 1 }, (_, index) =>
    event({ choices: [choice({ content: `${WORDS[index % WORDS.length]} ` })] }),
  ),
  event({ choices: [{ ...choice({}), finish_reason: 'stop' }] }),
  event({ choices: [], usage: USAGE }),
  'data: [DONE]\n\n',
]

export const SLOW_EVENT = event({ choices: [choice({ content: 'and ' })] })

export const EMBEDDING_ANSWER = JSON.stringify({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: vectorOf(1_536) }],
  model: 'constant',
  usage: { prompt_tokens: 8, total_tokens: 8 },
})

function event(more: object): string {
  return `data: ${JSON.stringify({ ...COMMON, object: 'chat.completion.chunk', ...more })}\n\n`
}

function choice(delta: object): object {
  return { index: 0, delta, logprobs: null, finish_reason: null }
}

function textOf(words: number): string {
  return Array.from({ length: words }, (_, index) => WORDS[index % WORDS.length]).join(' ')
}

/** Numbers with as many digits as providers send: seven or eight. */
function vectorOf(length: number): number[] {
  return Array.from({ length }, (_, index) => Number(Math.sin(index + 1).toFixed(8)))
}

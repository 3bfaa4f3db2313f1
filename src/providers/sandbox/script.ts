// How a caller steers the sandbox: one line in the last user message, `[[sandbox tokens=200 gap=20ms …]]`, or the same
// words in the header `x-tollgate-sandbox` (docs/sandbox.md). An unknown word is refused, and the refusal names it.
import type { GatewayError } from '../../core/errors.ts'
import { invalidRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { parseObject } from '../../core/json.ts'
import type { CanonicalRequest } from '../../core/request.ts'

export const SCRIPT_HEADER = 'x-tollgate-sandbox'

/** The most tools called at once. */
export const CALLS_MAX = 16

export type Script = {
  /** The length of an answer, reasoning included. */
  readonly tokens?: number
  /** Milliseconds of silence before the first byte. */
  readonly first?: number
  /** Milliseconds of silence between two pieces of the answer. */
  readonly gap?: number
  /** An HTTP status instead of an answer; with `cut`, an error event in the middle of a stream. */
  readonly error?: number
  /** After this many tokens nothing more is sent, and the connection stays open. */
  readonly stall?: number
  /** After this many tokens the connection ends; in a shorter answer, before its final event. */
  readonly cut?: number
  readonly usage?: 'none'
  /** The tools to call, all at once. */
  readonly tool?: readonly string[]
  /** The arguments of every such call. */
  readonly args?: JsonObject
}

/** The script of a request; a word in the message beats the same word in the header. */
export function readScript(request: CanonicalRequest, header: string | undefined): Script {
  const line = findLine(lastUserText(request))
  const script = { ...parseWords(header ?? ''), ...parseWords(line?.words ?? '') }
  if (script.stall !== undefined && script.cut !== undefined) {
    throw refusal('"stall" and "cut" cannot both end an answer')
  }
  return script
}

/** The text without its steering line, as the model reads it. */
export function withoutScript(text: string): string {
  const line = findLine(text)
  return line === undefined ? text : text.slice(0, line.start) + text.slice(line.end)
}

const OPENING = '[[sandbox'
const CLOSING = ']]'

/** Searched by hand: a message may be megabytes of openings, and a regular expression would try them all. */
function findLine(text: string): { start: number; end: number; words: string } | undefined {
  for (let start = text.indexOf(OPENING); start >= 0;) {
    const lineEnd = text.indexOf('\n', start)
    const line = text.slice(start, lineEnd < 0 ? undefined : lineEnd)
    // Up to the last brackets of the line, because arguments may contain brackets too.
    const close = line.lastIndexOf(CLOSING)
    const words = line.slice(OPENING.length, close)
    if (close >= 0 && /^\s|^$/.test(words)) {
      return { start, end: start + close + CLOSING.length, words }
    }
    start = lineEnd < 0 ? -1 : text.indexOf(OPENING, lineEnd)
  }
  return undefined
}

/** All text of the last user message; for an embedding, the last text. */
export function lastUserText(request: CanonicalRequest): string {
  if (request.kind === 'embedding') {
    const input = request.inputs.at(-1)
    return typeof input === 'string' ? input : ''
  }
  const message = request.messages.findLast(({ role }) => role === 'user')
  return (message?.parts ?? [])
    .flatMap((part) => (part.type === 'text' ? part.text : []))
    .join('\n')
}

type Reader<Value> = { readonly read: (text: string) => Value | undefined; readonly use: string }

/** Each word, how its value is read, and an example of its use. */
const WORDS: { readonly [Word in keyof Script]-?: Reader<Script[Word]> } = {
  tokens: { read: readNumber, use: 'tokens=200' },
  first: { read: readMilliseconds, use: 'first=500ms, at most ten minutes' },
  gap: { read: readMilliseconds, use: 'gap=20ms, at most ten minutes' },
  error: {
    read: (text) => readNumber(text, /^[45]\d\d$/),
    use: 'error=529, any status from 400 to 599',
  },
  stall: { read: readNumber, use: 'stall=10' },
  cut: { read: readNumber, use: 'cut=10' },
  usage: { read: (text) => (text === 'none' ? text : undefined), use: 'usage=none' },
  tool: { read: readNames, use: `tool=NAME, or tool=NAME,NAME and so on, at most ${CALLS_MAX}` },
  args: { read: parseObject, use: 'args={"name": "value"}' },
}

export const SCRIPT_WORDS = Object.keys(WORDS)

/** Enough for any arguments that a test needs. */
const WORDS_CHARACTERS_MAX = 10_000

function parseWords(text: string): Script {
  if (text.length > WORDS_CHARACTERS_MAX) {
    throw refusal(`a line has at most ${WORDS_CHARACTERS_MAX} characters`)
  }
  const script: Record<string, unknown> = {}
  for (let rest = text.trim(); rest !== '';) {
    const word = /^[^\s=]*/.exec(rest)?.[0] ?? ''
    if (!isWord(word)) {
      throw refusal(`there is no word "${word}": use ${SCRIPT_WORDS.join(', ')}`)
    }
    if (Object.hasOwn(script, word)) throw refusal(`the word "${word}" appears twice`)
    const value = valueAt(rest.slice(word.length + 1))
    const read = rest[word.length] === '=' ? WORDS[word].read(value) : undefined
    if (read === undefined)
      throw refusal(`the word "${word}" cannot be "${value}": ${WORDS[word].use}`)
    script[word] = read
    rest = rest.slice(word.length + 1 + value.length).trimStart()
  }
  return script
}

function isWord(word: string): word is keyof Script {
  return Object.hasOwn(WORDS, word)
}

/** A value ends at the next space, but an object at its own closing brace. */
function valueAt(text: string): string {
  if (!text.startsWith('{')) return /^\S*/.exec(text)?.[0] ?? ''
  let depth = 0
  let isString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (isString) {
      if (character === '\\') index++
      else if (character === '"') isString = false
    } else if (character === '"') isString = true
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return text.slice(0, index + 1)
  }
  return text
}

function readNumber(value: string, shape = /^\d{1,9}$/): number | undefined {
  return shape.test(value) ? Number(value) : undefined
}

const MILLISECONDS_MAX = 600_000

function readMilliseconds(value: string): number | undefined {
  const [, digits, unit] = /^(\d{1,6})(ms|s)$/.exec(value) ?? []
  const milliseconds = Number(digits) * (unit === 's' ? 1000 : 1)
  return milliseconds <= MILLISECONDS_MAX ? milliseconds : undefined
}

function readNames(value: string): readonly string[] | undefined {
  const names = value.split(',')
  return names.every((name) => /^[\w-]+$/.test(name)) && names.length <= CALLS_MAX
    ? names
    : undefined
}

function refusal(message: string): GatewayError {
  return invalidRequest('sandbox', `sandbox steering: ${message}`)
}

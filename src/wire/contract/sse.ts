// Server-Sent Events, bytes to events and back: the only file that knows the framing. Reads as the WHATWG standard says
// (any line end, split anywhere, comments, several data lines) and keeps each event's own text, so that an event can be
// forwarded exactly as it came.
import { StringDecoder } from 'node:string_decoder'
import { GatewayError } from '../../core/errors.ts'

export type SseEvent = {
  /** The `event:` field; '' when there is none. */
  readonly event: string
  readonly data: string
  /** The event as received, blank line included; '' for one created here. */
  readonly raw: string
}

/** Bounds a single event: a provider that never ends one would fill the memory. */
const EVENT_CHARACTERS_MAX = 8 * 1024 * 1024
/** Real events have a few, or as many as their JSON if it is indented. Reading millions stalls all other requests. */
const EVENT_LINES_MAX = 100_000

/** Keeps a connection alive and means nothing. A blank line after it is an event without data to openai-go 2. */
export function sseComment(text: string): string {
  return `: ${text}\n`
}

export function sseEvent(event: string, data: unknown): SseEvent {
  return { event, data: typeof data === 'string' ? data : JSON.stringify(data), raw: '' }
}

/** An event as text, for a single write: some clients lose events that arrive in two reads. */
export function writeSse(event: SseEvent): string {
  if (event.raw !== '') return event.raw
  return event.event === ''
    ? `data: ${event.data}\n\n`
    : `event: ${event.event}\ndata: ${event.data}\n\n`
}

/** The text of a received event, with its data replaced. */
export function replaceData(event: SseEvent, data: string): string {
  if (data === event.data) return event.raw
  const start = dataStart(event)
  if (start >= 0) {
    return event.raw.slice(0, start) + data + event.raw.slice(start + event.data.length)
  }
  // The data came in several lines. Between JSON tokens a line end is only white space.
  return writeSse(sseEvent(event.event, data.replaceAll('\n', ' ')))
}

const DATA_LINE = /(?:^|[\r\n])data: ?/

/**
 * Where the data begins in a received event, or -1 if it came in several lines. The line is searched for, not the data:
 * finding a megabyte of spaces behind another one takes minutes.
 */
export function dataStart({ raw, data }: SseEvent): number {
  const line = DATA_LINE.exec(raw)
  const start = line === null ? -1 : line.index + line[0].length
  return start >= 0 && raw.startsWith(data, start) ? start : -1
}

/** Splits bytes into events, wherever reads are cut. What follows the last blank line is kept for the next read. */
export class SseReader {
  /** Created when a read may end inside a character, which is rare: an event ends with a line. */
  #decoder: StringDecoder | undefined
  #hasBegun = false
  /** The beginning of an event. It is never searched again: that would copy a long event once for every read. */
  #kept = ''
  #isLineEmpty = true
  /** The lines of the event so far. */
  #lines = 0
  /** A carriage return at the very end of a read may be half of a line end, so it waits for what follows. */
  #waiting: '' | '\r' = ''
  /** One that did not wait: if it was half of a line end all the same, the other half is skipped. */
  #isHalfRead = false

  read(bytes: Uint8Array): SseEvent[] {
    let text = this.#waiting + this.#decode(bytes)
    if (this.#isHalfRead && text !== '') {
      this.#isHalfRead = false
      if (text.startsWith('\n')) text = text.slice(1)
    }
    // After another one it ends an event of lines that end with it alone: nothing may follow for a long time, or ever.
    this.#isHalfRead ||= text.endsWith('\r\r')
    this.#waiting = text.endsWith('\r') && !this.#isHalfRead ? '\r' : ''
    const end = text.length - this.#waiting.length
    const afterLine = text.includes('\r') ? afterAnyLine : afterUsualLine
    const events: SseEvent[] = []
    let start = 0
    let position = 0
    for (;;) {
      const next = afterLine(text, position, end)
      if (next < 0) break
      const isBlank = this.#isLineEmpty && isLineEnd(text.charCodeAt(position))
      this.#isLineEmpty = true
      position = next
      if (!isBlank) {
        this.#lines += 1
        if (this.#lines > EVENT_LINES_MAX) throw endless('an event of too many lines')
        continue
      }
      this.#lines = 0
      events.push(parseEvent(this.#kept + text.slice(start, position)))
      this.#kept = ''
      start = position
    }
    if (position < end) this.#isLineEmpty = false
    this.#kept += text.slice(start, end)
    if (this.#kept.length > EVENT_CHARACTERS_MAX) throw endless('an event that does not end')
    return events
  }

  /** A stream may begin with a byte order mark, which is not part of it. */
  #decode(bytes: Uint8Array): string {
    const isWhole = (bytes.at(-1) ?? 0) < 0x80
    if (!isWhole) this.#decoder ??= new StringDecoder('utf8')
    const text = (this.#decoder ?? WHOLE).write(bytes)
    if (this.#hasBegun || text === '') return text
    this.#hasBegun = true
    return text.startsWith('\uFEFF') ? text.slice(1) : text
  }
}

function endless(what: string): GatewayError {
  return new GatewayError('provider_failed', `the provider sent ${what}`)
}

/** The index after the line that begins at a position, or -1 if its end has not arrived yet. */
function afterUsualLine(text: string, position: number): number {
  return text.indexOf('\n', position) + 1 || -1
}

function afterAnyLine(text: string, position: number, end: number): number {
  for (let index = position; index < end; index++) {
    const character = text.charCodeAt(index)
    if (!isLineEnd(character)) continue
    return character === CR && text.charCodeAt(index + 1) === LF ? index + 2 : index + 1
  }
  return -1
}

function isLineEnd(character: number): boolean {
  return character === LF || character === CR
}

/** Shared by reads that end with a whole character, so it holds no bytes. A TextDecoder takes four times as long. */
const WHOLE = new StringDecoder('utf8')

const LF = 10
const CR = 13

function parseEvent(raw: string): SseEvent {
  // One line of data, like nearly every event of a stream.
  if (raw.startsWith('data: ') && raw.indexOf('\n') === raw.length - 2 && !raw.includes('\r')) {
    return { event: '', data: raw.slice('data: '.length, -2), raw }
  }
  let event = ''
  let data: string | undefined
  for (const line of raw.split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (name === 'event') event = value
  }
  return { event, data: data ?? '', raw }
}

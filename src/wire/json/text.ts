// Changes a JSON object as text, without parsing it: for events that are forwarded by the thousand with only a name
// changed. Every other character stays as it is.
import { endOfString } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'

/** The text with some outermost members replaced, or added after the others if they are missing. */
export function setMembers(text: string, members: JsonObject): string {
  let changed = text
  for (const [name, value] of Object.entries(members)) {
    const json = JSON.stringify(value)
    const span = findMember(changed, name)
    changed =
      span === undefined
        ? withMember(changed, `${JSON.stringify(name)}:${json}`)
        : changed.slice(0, span.start) + json + changed.slice(span.end)
  }
  return changed
}

function withMember(text: string, member: string): string {
  const end = text.lastIndexOf('}')
  const isEmpty = text.slice(0, end).trimEnd().endsWith('{')
  return `${text.slice(0, end)}${isEmpty ? '' : ','}${member}${text.slice(end)}`
}

/** The text with the value of one outermost member replaced by other JSON; the same text if there is no such member. */
export function replaceMember(text: string, name: string, value: string): string {
  const span = findMember(text, name)
  return span === undefined ? text : text.slice(0, span.start) + value + text.slice(span.end)
}

/** Where a value is, in characters. */
type Span = { readonly start: number; readonly end: number }

/** The span of a string, without its quotes, by its path from the outermost; a list stands for its first object. */
export function findString(text: string, names: readonly string[]): Span | undefined {
  let start = 0
  let end = text.length
  for (const name of names) {
    const span = findMember(text.slice(start, end), name)
    if (span === undefined) return undefined
    end = start + span.end
    start += span.start
  }
  return text[start] === '"' ? { start: start + 1, end: end - 1 } : undefined
}

export function findMember(text: string, name: string): Span | undefined {
  let position = text.indexOf('{') + 1
  for (;;) {
    const quote = text.indexOf('"', position)
    const colon = quote < 0 ? -1 : text.indexOf(':', endOfString(text, quote))
    if (colon < 0) return undefined
    const start = endOfSpace(text, colon + 1)
    const end = endOfValue(text, start)
    if (text.slice(quote + 1, endOfString(text, quote) - 1) === name) return { start, end }
    position = end
  }
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let position = start; position < text.length; position++) {
    const character = text[position]
    if (character === '"') position = endOfString(text, position) - 1
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else if (character !== ',') continue
    // The character that ends a number or a word is not part of it; the one that closes a string or a container is.
    if (depth < 0 || (depth === 0 && character === ',')) return position
    if (depth === 0) return position + 1
  }
  return text.length
}

function endOfSpace(text: string, start: number): number {
  let position = start
  while (position < text.length && text.charCodeAt(position) <= 0x20) position += 1
  return position
}

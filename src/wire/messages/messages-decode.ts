// The system prompt and the turns of a messages request. One turn here may be several canonical messages: each tool
// result is a message of its own and stands right behind the turn that called.
import { invalidRequest } from '../../core/errors.ts'
import type { Json } from '../../core/json.ts'
import { isArray } from '../../core/json.ts'
import type { AssistantPart, Message, TextPart, UserPart } from '../../core/request.ts'
import type { Fields } from '../read.ts'
import { fieldsOf, optionalBoolean, optionalList, placeOf, requiredString } from '../read.ts'
import {
  decodeAssistantBlock,
  decodeCacheMark,
  decodeText,
  decodeToolResultBlock,
  decodeUserBlock,
} from './blocks-decode.ts'
import { isBillingLine } from './session.ts'
import { shortCallId } from './tool-names.ts'

export function decodeMessages(body: Fields, dropped: Set<string>): Message[] {
  const turns = optionalList(body, 'messages') ?? []
  if (turns.length === 0)
    throw invalidRequest('messages', 'messages must have at least one message')
  const list = new MessageList(decodeSystem(body))
  for (const [index, value] of turns.entries()) {
    const fields = fieldsOf(value, `messages[${index}]`)
    const content = contentOf(fields)
    const role = requiredString(fields, 'role')
    switch (role) {
      case 'user':
        decodeUserTurn(list, content, dropped)
        break
      case 'assistant':
        list.addAssistant(
          content.flatMap((block) => decodeAssistantBlock(block, dropped)),
          fields.path,
        )
        break
      case 'system':
        list.add({ role: 'system', parts: content.map(decodeText) })
        break
      default:
        throw invalidRequest(
          `${fields.path}.role`,
          `${fields.path}.role must be user, assistant or system`,
        )
    }
  }
  return list.finish()
}

function decodeSystem(body: Fields): Message[] {
  const { system } = body.values
  if (system === undefined || system === null || system === '') return []
  const blocks = blocksOf(system, 'system').map(decodeText)
  const parts: TextPart[] = blocks.filter((part) => !isBillingLine(part.text))
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function contentOf(fields: Fields): Fields[] {
  return blocksOf(fields.values['content'], placeOf(fields, 'content'))
}

function blocksOf(content: Json | undefined, path: string): Fields[] {
  if (typeof content === 'string') return [{ values: { type: 'text', text: content }, path }]
  if (!isArray(content)) throw invalidRequest(path, `${path} must be a string or a list of blocks`)
  return content.map((block, index) => fieldsOf(block, `${path}[${index}]`))
}

function decodeUserTurn(list: MessageList, content: readonly Fields[], dropped: Set<string>): void {
  const parts: UserPart[] = []
  for (const block of content) {
    if (block.values['type'] === 'tool_result') list.addResult(block, dropped)
    else parts.push(...decodeUserBlock(block, dropped))
  }
  if (parts.length > 0) list.add({ role: 'user', parts })
}

/** The messages so far, and the calls of the last assistant turn that wait for their results. */
class MessageList {
  readonly #messages: Message[]
  readonly #waiting = new Set<string>()
  /** Where the next tool result goes: behind the calls and the results before it, whatever the client put between. */
  #resultsEnd = -1
  #callsPath = ''

  constructor(messages: Message[]) {
    this.#messages = messages
  }

  add(message: Message): void {
    this.#messages.push(message)
  }

  addAssistant(parts: readonly AssistantPart[], path: string): void {
    const last = this.#messages.at(-1)
    if (last?.role !== 'assistant') this.#refuseUnanswered()
    this.add({ role: 'assistant', parts })
    for (const part of parts) if (part.type === 'tool-call') this.#waiting.add(part.id)
    this.#resultsEnd = this.#messages.length
    this.#callsPath = path
  }

  addResult(block: Fields, dropped: Set<string>): void {
    const callId = shortCallId(requiredString(block, 'tool_use_id'))
    if (!this.#waiting.delete(callId)) {
      const place = placeOf(block, 'tool_use_id')
      throw invalidRequest(place, `${place} names no tool_use of the assistant turn before it`)
    }
    const { content } = block.values
    const parts = content === undefined || content === null ? [] : contentOf(block)
    const isError = optionalBoolean(block, 'is_error')
    const cache = decodeCacheMark(block)
    this.#messages.splice(this.#resultsEnd++, 0, {
      role: 'tool',
      callId,
      parts: parts.flatMap((part) => decodeToolResultBlock(part, dropped)),
      ...(isError === undefined ? {} : { isError }),
      ...(cache === undefined ? {} : { cache }),
    })
  }

  finish(): Message[] {
    this.#refuseUnanswered()
    return this.#messages
  }

  #refuseUnanswered(): void {
    const [id] = this.#waiting
    if (id === undefined) return
    throw invalidRequest(
      this.#callsPath,
      `${this.#callsPath} calls a tool (${id}) whose result does not follow: send a tool_result for each tool_use`,
    )
  }
}

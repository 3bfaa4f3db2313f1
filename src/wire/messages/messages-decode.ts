// The system prompt and the turns of a messages request. One turn may become several canonical messages: each tool
// result is a separate message, right after the turn that made the call.
import { invalidRequest } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { defined, isArray } from '../../core/json.ts'
import type { AssistantPart, Message, UserPart } from '../../core/request.ts'
import {
  expectBoolean,
  expectList,
  expectObject,
  expectOneOf,
  expectText,
  optional,
} from '../expect.ts'
import type { Block } from './blocks-decode.ts'
import {
  decodeAssistantBlock,
  decodeText,
  decodeToolResultBlock,
  decodeUserBlock,
} from './blocks-decode.ts'
import { decodeCacheMark } from './cache-marks.ts'
import { isBillingLine } from './session.ts'

const expectRole = expectOneOf(['user', 'assistant', 'system'])

export function decodeMessages(body: JsonObject, dropped: Set<string>): Message[] {
  const turns = expectList(body['messages'], 'messages')
  if (turns.length === 0) throw invalidRequest('messages', 'messages must have at least one entry')
  const list = new MessageList(decodeSystem(body['system'], 'system', dropped))
  for (const [index, value] of turns.entries()) {
    const place = `messages[${index}]`
    const turn = expectObject(value, place)
    const { content } = turn
    const at = `${place}.content`
    switch (expectRole(turn['role'], `${place}.role`)) {
      case 'user':
        addUserTurn(list, blocksOf(content, at), dropped)
        break
      case 'assistant': {
        const parts = blocksOf(content, at).flatMap((block) => decodeAssistantBlock(block, dropped))
        list.addAssistant(parts, place)
        break
      }
      case 'system':
        for (const message of decodeSystem(content, at, dropped)) list.add(message)
    }
  }
  return list.finish()
}

/** Instructions, before the conversation or within it. Those that only set something for their turn have no content. */
function decodeSystem(content: Json | undefined, place: string, dropped: Set<string>): Message[] {
  if ((content ?? '') === '') return []
  const parts = blocksOf(content, place)
    .map((block) => decodeText(block, dropped))
    .filter((part) => !isBillingLine(part.text))
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function blocksOf(content: Json | undefined, place: string): Block[] {
  if (typeof content === 'string') return [{ value: { type: 'text', text: content }, place }]
  if (!isArray(content))
    throw invalidRequest(place, `${place} must be a string or a list of blocks`)
  return content.map((block, index) => {
    const at = `${place}[${index}]`
    return { value: expectObject(block, at), place: at }
  })
}

function addUserTurn(list: MessageList, blocks: readonly Block[], dropped: Set<string>): void {
  const parts: UserPart[] = []
  for (const block of blocks) {
    if (block.value['type'] === 'tool_result') list.addResult(block, dropped)
    else parts.push(...decodeUserBlock(block, dropped))
  }
  if (parts.length > 0) list.add({ role: 'user', parts })
}

/** The messages so far, and the calls of the last assistant turn that wait for their results. */
class MessageList {
  readonly #messages: Message[]
  readonly #waiting = new Set<string>()
  #callsPlace = ''
  /** The parts of the assistant turn that the last message is; undefined = it is something else. */
  #openParts: AssistantPart[] | undefined
  /** What follows the last assistant turn, except the results of its calls, which come before all of it. */
  #following: Message[] = []

  constructor(messages: Message[]) {
    this.#messages = messages
  }

  add(message: Message): void {
    this.#following.push(message)
    this.#openParts = undefined
  }

  addAssistant(parts: readonly AssistantPart[], place: string): void {
    // Here consecutive turns of one role count as one. Other formats require the calls in the last of them.
    let open = this.#openParts
    if (open === undefined) {
      this.#refuseWaiting()
      this.#closeTurn()
      open = []
      this.#messages.push({ role: 'assistant', parts: open })
      this.#openParts = open
    }
    for (const part of parts) {
      open.push(part)
      if (part.type === 'tool-call') this.#waiting.add(part.id)
    }
    this.#callsPlace = place
  }

  addResult({ value, place }: Block, dropped: Set<string>): void {
    const callId = expectText(value['tool_use_id'], `${place}.tool_use_id`)
    if (!this.#waiting.delete(callId)) {
      throw invalidRequest(
        `${place}.tool_use_id`,
        `${place}.tool_use_id does not match a tool_use of the assistant turn before it`,
      )
    }
    const blocks = blocksOf(value['content'] ?? [], `${place}.content`)
    const result = defined({
      role: 'tool' as const,
      callId,
      parts: blocks.flatMap((block) => decodeToolResultBlock(block, dropped)),
      isError: optional(value['is_error'], `${place}.is_error`, expectBoolean),
      cache: decodeCacheMark(value, place),
    })
    this.#messages.push(result)
    this.#openParts = undefined
  }

  finish(): Message[] {
    this.#refuseWaiting()
    this.#closeTurn()
    return this.#messages
  }

  #closeTurn(): void {
    for (const message of this.#following) this.#messages.push(message)
    this.#following = []
  }

  #refuseWaiting(): void {
    const [id] = this.#waiting
    if (id === undefined) return
    const place = this.#callsPlace
    throw invalidRequest(
      place,
      `${place} has the tool_use ${id}, but no tool_result follows for it`,
    )
  }
}

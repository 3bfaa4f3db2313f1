// Turns for providers that require user and assistant to alternate.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SAMPLE_CONVERSATION } from '../../../test/samples/conversation.ts'
import type { TargetFormat } from '../../core/endpoints.ts'
import type { AssistantPart, Message } from '../../core/request.ts'
import { UPSTREAM_CODECS } from '../codecs.ts'

const TURNS: Partial<Record<TargetFormat, string>> = {
  messages: 'messages',
  gemini: 'contents',
  converse: 'messages',
}
const asks: Message = { role: 'user', parts: [{ type: 'text', text: 'When?' }] }
const answers = (...parts: AssistantPart[]): Message => ({ role: 'assistant', parts })

for (const [format, name] of Object.entries(TURNS)) {
  const rolesOf = (...messages: Message[]): unknown[] => {
    const { encodeRequest } = UPSTREAM_CODECS[format as TargetFormat]
    const turns = encodeRequest({ ...SAMPLE_CONVERSATION, messages })[name]
    return (turns as { role: unknown }[]).map(({ role }) => role)
  }

  test(`${format}: an empty answer makes no turn`, () => {
    // It would put words into the model's mouth, which newer models refuse.
    assert.deepEqual(rolesOf(asks, answers()), ['user'])
    assert.deepEqual(rolesOf(asks, answers({ type: 'text', text: '' })), ['user'])
    const [, second = ''] = rolesOf(asks, answers(), asks)
    assert.deepEqual(rolesOf(asks, answers({ type: 'text', text: 'At' })), ['user', second])
  })
}

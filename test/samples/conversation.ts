// The smallest conversation, to which each test adds what it needs.
import type { Conversation } from '../../src/core/request.ts'

export const SAMPLE_CONVERSATION: Conversation = {
  kind: 'chat',
  model: 'm',
  dropped: [],
  stream: false,
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  tools: [],
  sampling: {},
  choices: 1,
}

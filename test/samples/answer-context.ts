// The context of an answer, with the same ids and times in every run. For tests only.
import type { AnswerContext } from '../../src/wire/contract/codec.ts'

export const SAMPLE_CONTEXT: AnswerContext = {
  model: 'house-model',
  body: {},
  createdAt: 1,
  now: () => 2,
  requestId: 'req_1',
  newId: (prefix) => `${prefix}_new`,
}

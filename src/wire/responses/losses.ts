// What a responses provider cannot be sent.
import type { Losses } from '../contract/losses.ts'
import { foreignThinking, refuse, usual } from '../contract/losses.ts'

export const RESPONSES_LOSSES: Losses = {
  ...usual('choices', 'temperature_of_reasoner', 'top_p_of_reasoner', 'logprobs_of_reasoner'),
  ...usual('top_k', 'frequency_penalty', 'presence_penalty', 'seed', 'logit_bias'),
  ...usual('participant_name', 'audio', 'cache_marks', 'loose_schema'),
  ...usual('thinking_budget', 'reasoning', 'thinking_off', 'unasked_thoughts'),
  ...foreignThinking('responses'),
  stop: refuse('there are no stop sequences', ({ sampling }) => sampling.stop !== undefined),
}

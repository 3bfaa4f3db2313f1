// What a chat completions provider cannot be sent.
import type { Losses } from '../contract/losses.ts'
import { foreignThinking, usual, usualBut, USUAL } from '../contract/losses.ts'
import { takesCustomTools } from '../content/tools.ts'

export const CHAT_LOSSES: Losses = {
  ...usual('stop_beyond_four', 'temperature_of_reasoner', 'top_p_of_reasoner'),
  ...usual('logprobs_of_reasoner', 'top_k', 'cache_marks', 'file_url', 'loose_schema'),
  ...usual('thinking_budget', 'thinking_display', 'reasoning', 'thinking_off', 'unasked_thoughts'),
  ...usualBut('metadata', {
    why: 'it is accepted only for stored answers; it is kept in the usage record',
  }),
  ...usualBut('tool_input_format', {
    why: 'only OpenAI’s models take it; others read it in the tool’s description',
    isUsed: (request) => !takesCustomTools(request) && USUAL.tool_input_format.isUsed(request),
  }),
  ...foreignThinking('chat'),
}

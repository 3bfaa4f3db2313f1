// What a Converse provider cannot be sent.
import type { Conversation } from '../../core/request.ts'
import { unenforcedInAnswer } from '../content/schemas.ts'
import type { Losses } from '../contract/losses.ts'
import { drop, foreignThinking, hasPart, refuse, usual, usualBut } from '../contract/losses.ts'
import { asksForThinking, asksNotToThink } from '../models/effort.ts'
import { canBeKeptFromThinking, canBeToldEffort, documentFormat } from './request-encode.ts'
import { calledTools } from './tools.ts'

export const CONVERSE_LOSSES: Losses = {
  ...usual('choices', 'stop_beyond_four', 'temperature_above_one', 'top_k', 'seed', 'logit_bias'),
  ...usual('frequency_penalty', 'presence_penalty', 'logprobs', 'verbosity', 'metadata'),
  ...usual('cache_key', 'end_user', 'participant_name', 'audio', 'image_detail', 'file_url'),
  ...usual('single_tool_call', 'strict_tool', 'tool_input_format'),
  ...usual('thinking_budget', 'thinking_display'),
  ...usualBut('cache_marks', { why: 'not all its models take them' }),
  ...foreignThinking('converse'),
  file_beyond_documents: refuse(
    'only documents, spreadsheets and text can be read',
    hasPart((part) => part.type === 'file' && documentFormat(part.source) === undefined),
  ),
  image_url: refuse(
    'images cannot be sent by URL',
    hasPart((part) => part.type === 'image' && part.source.type === 'url'),
  ),
  forbidden_tools: drop(
    'tools that were called before must be offered again',
    (request) => request.toolChoice?.type === 'none' && calledTools(request).length > 0,
  ),
  reasoning: drop(
    'only Nova 2 and gpt-oss take it',
    (request) => asksForThinking(request) && !canBeToldEffort(request.model),
  ),
  thinking_off: drop('only Nova 2 can be stopped from thinking', thinksAnyway),
  ...usualBut('unasked_thoughts', {
    isUsed: (request) => request.hidesThoughts === true && mayThink(request),
  }),
  schema_constraints: drop(
    'no model is bound to it; it is in the description instead',
    unenforcedInAnswer,
  ),
}

function thinksAnyway(request: Conversation): boolean {
  const { model, traits } = request
  return asksNotToThink(request) && traits?.reasons !== false && !canBeKeptFromThinking(model)
}

function mayThink(request: Conversation): boolean {
  if (asksNotToThink(request)) return thinksAnyway(request)
  return request.traits?.reasons ?? canBeToldEffort(request.model)
}

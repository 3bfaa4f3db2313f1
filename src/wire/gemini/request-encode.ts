// A canonical request as generateContent expects it. The model and whether to stream are in the URL. What this format
// cannot express is left out, and listed in `GEMINI_LOSSES`.
import assert from 'node:assert/strict'
import { defined, MEMBERS_MAX } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type {
  AssistantPart,
  CanonicalRequest,
  Conversation,
  Effort,
  FilePart,
  ImagePart,
  ToolChoice,
  ToolMessage,
  UserPart,
} from '../../core/request.ts'
import { typeOfUrl } from '../content/media.ts'
import { describedSchema, unenforcedInAnswer } from '../content/schemas.ts'
import {
  allowedFunctions,
  toolInput,
  toolCallsIn,
  fieldsToParse,
  fitToolName,
  withUniqueCallIds,
} from '../content/tools.ts'
import { NO_CONTENT, takeTurns } from '../content/turns.ts'
import type { Turn } from '../content/turns.ts'
import type { Losses } from '../contract/losses.ts'
import { drop, foreignReasoning, refuse, usual, usualBut } from '../contract/losses.ts'
import {
  asksForNoReasoning,
  asksForReasoning,
  geminiOf,
  generationOf,
  isPro,
  takesUrl,
} from '../contract/models.ts'
import { parseExactly } from '../json/exact.ts'

export function encodeRequest(request: CanonicalRequest): JsonObject {
  assert(request.kind === 'chat')
  const { system, contents } = encodeTurns(request)
  const tools = encodeTools(request)
  return defined({
    contents,
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    tools: tools.length === 0 ? undefined : [{ functionDeclarations: tools }],
    toolConfig: tools.length === 0 ? undefined : encodeToolConfig(request.toolChoice),
    generationConfig: encodeGeneration(request),
  })
}

function encodeGeneration(request: Conversation): JsonObject {
  const { temperature, topP, topK, seed, stop } = request.sampling
  return defined({
    maxOutputTokens: request.outputTokensMax,
    temperature,
    topP,
    topK,
    seed,
    stopSequences: stop,
    thinkingConfig: encodeReasoning(request),
    ...encodeOutputFormat(request),
  })
}

function encodeOutputFormat({ outputFormat }: Conversation): JsonObject {
  if (outputFormat === undefined) return {}
  const responseMimeType = 'application/json'
  return outputFormat.type === 'json'
    ? { responseMimeType }
    : { responseMimeType, responseJsonSchema: describedSchema(outputFormat) }
}

/** The provider's own figures for the efforts of the chat family. */
const BUDGETS: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}
/** In the largest models reasoning cannot be turned off, and its budget may be larger. */
const BUDGET_MIN_PRO = 128
const BUDGET_MAX_PRO = 32_768

const LEVELS: Record<Effort, string> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** The second generation takes a number of tokens, the third a level. */
function encodeReasoning(request: Conversation): JsonObject | undefined {
  const { model, reasoning } = request
  if (reasoning === undefined || !geminiOf(request).reasons) return undefined
  const { effort, tokensMax, display } = reasoning
  const includeThoughts = effort !== 'none' && display !== 'omitted' ? true : undefined
  if (tokensMax !== undefined) {
    return defined({ thinkingBudget: budgetWithin(model, tokensMax), includeThoughts })
  }
  if (effort === undefined) return defined({ includeThoughts })
  if (generationOf(model) >= 3) {
    const level = LEVELS[effort]
    const thinkingLevel = isPro(model) && level === 'minimal' ? 'low' : level
    return defined({ thinkingLevel, includeThoughts })
  }
  return defined({ thinkingBudget: budgetWithin(model, BUDGETS[effort]), includeThoughts })
}

/** The provider refuses a budget outside the model's range. */
function budgetWithin(model: string, tokens: number): number {
  return isPro(model)
    ? Math.max(BUDGET_MIN_PRO, Math.min(tokens, BUDGET_MAX_PRO))
    : Math.min(tokens, BUDGETS.max)
}

/** The result of a call, and the call's number in the conversation. */
type Result = { readonly number: number; readonly part: JsonObject }

function encodeTurns({ model, messages: given }: Conversation) {
  const messages = withUniqueCallIds(given)
  const calls = new Map(toolCallsIn(messages).map(({ id, name }, number) => [id, { number, name }]))
  const parsing = { ...PARSED_MAX }
  const { system, turns } = takeTurns<Result>(messages, {
    blocks: (message) =>
      message.role === 'assistant'
        ? encodeAnswer(message.parts, model)
        : message.parts.flatMap(encodePart),
    result: (message, { blocks }) => {
      const { number, name } = calls.get(message.callId) ?? { number: 0, name: message.callId }
      // A result can only be text here. Its images and files follow it.
      blocks.push(...message.parts.filter(({ type }) => type !== 'text').flatMap(encodePart))
      return { number, part: encodeResult(message, name, parsing) }
    },
  })
  return { system, contents: turns.map(encodeTurn) }
}

/** How many characters and fields of results may still be parsed: results beyond it are sent as texts. */
type Parsing = { charactersMax: number; fieldsMax: number }

/** As much as the inputs of calls may have. */
const PARSED_MAX: Parsing = { charactersMax: 4_000_000, fieldsMax: MEMBERS_MAX.request }

/** A result names its function but not its call, so results of one function must be in the order of its calls. */
function encodeTurn({ role, results, blocks }: Turn<Result>): JsonObject {
  const told = results.toSorted((one, other) => one.number - other.number)
  const parts = [...told.map(({ part }) => part), ...blocks]
  return {
    role: role === 'assistant' ? 'model' : 'user',
    parts: parts.length === 0 ? [{ text: NO_CONTENT }] : parts,
  }
}

/** Empty texts are left out: the provider refuses them. */
function encodePart(part: UserPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'image':
    case 'file':
      return encodeMedia(part)
    case 'audio':
      return [{ inlineData: { mimeType: `audio/${part.encoding}`, data: part.data } }]
  }
}

/** A file's name precedes it as text: the format has no field for it. */
function encodeMedia(part: ImagePart | FilePart): JsonObject[] {
  const { source } = part
  const title = 'name' in part && part.name !== undefined ? [{ text: part.name }] : []
  switch (source.type) {
    case 'base64':
      return [...title, { inlineData: { mimeType: source.mediaType, data: source.data } }]
    case 'text':
      return source.text === '' ? title : [...title, { text: source.text }]
    case 'url':
      return [
        ...title,
        { fileData: { mimeType: typeOfUrl(part.type, source.url), fileUri: source.url } },
      ]
  }
}

/** Sent in place of the signature that another model's call lacks: it turns the provider's check off. */
const UNSIGNED = 'skip_thought_signature_validator'

/**
 * A signature belongs to the call that follows it or, since chat clients move all reasoning before all calls, to the
 * next unsigned one. From the third generation on, the first call of a turn must be signed.
 */
function encodeAnswer(parts: readonly AssistantPart[], model: string): JsonObject[] {
  const encoded: JsonObject[] = []
  const signatures: string[] = []
  let used = 0
  let isSigned = generationOf(model) < 3
  for (const part of parts) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        if (part.text !== '') encoded.push({ text: part.text })
        break
      case 'reasoning':
        if (part.opaque?.format !== 'gemini') break
        if (part.opaque.id === 'text')
          encoded.push({ text: '', thoughtSignature: part.opaque.value })
        else signatures.push(part.opaque.value)
        break
      case 'tool-call': {
        const given = signatures[used]
        if (given !== undefined) used += 1
        const thoughtSignature = given ?? (isSigned ? undefined : UNSIGNED)
        encoded.push({
          functionCall: { name: part.name, args: toolInput(part) },
          ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
        })
        isSigned = true
      }
    }
  }
  return encoded
}

/** A result is an object here; a text that is none is put into one. */
function encodeResult({ parts, isError }: ToolMessage, name: string, left: Parsing): JsonObject {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const response = (): JsonObject => {
    if (isError === true) return { error: text }
    left.charactersMax -= text.length
    left.fieldsMax -= fieldsToParse(text)
    const isTooMuch = left.charactersMax < 0 || left.fieldsMax < 0
    return (isTooMuch ? undefined : parseExactly(text)) ?? { result: text }
  }
  return { functionResponse: { name, response: response() } }
}

/** generateContent accepts a list of allowed tools only with a forced call, so the other tools are left out instead. */
function encodeTools(request: Conversation): readonly JsonObject[] {
  return allowedFunctions(request).map(({ name, description, schema }) =>
    defined({
      name: fitToolName(name, 'tools'),
      description,
      parametersJsonSchema: { type: 'object', ...schema },
    }),
  )
}

function encodeToolConfig(choice: ToolChoice | undefined): JsonObject | undefined {
  if (choice === undefined) return undefined
  return { functionCallingConfig: encodeCalling(choice) }
}

function encodeCalling(choice: ToolChoice): JsonObject {
  switch (choice.type) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      return { mode: choice.required ? 'ANY' : 'AUTO' }
  }
}

// What Gemini cannot be sent.

const URLS = 'Gemini before 2.5 takes nothing by URL, and no model a film'
const NO_SETTING = { why: 'its models have no such setting' }

/** Of schemas, beyond those of other formats: Gemini is sent schemas as they are and ignores what it does not know. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'additionalProperties format maximum maxItems minimum minItems oneOf'.split(' '),
)

export const GEMINI_LOSSES: Losses = {
  ...usual('choices', 'logit_bias', 'logprobs', 'verbosity', 'metadata', 'cache_key'),
  ...usual('cache_marks', 'end_user', 'participant_name', 'image_detail', 'single_tool_call'),
  ...usual('strict_tool', 'tool_input_format', 'schema_name'),
  ...usualBut('frequency_penalty', NO_SETTING),
  ...usualBut('presence_penalty', NO_SETTING),
  ...foreignReasoning('gemini'),
  stop_beyond_five: refuse(
    'at most five stop sequences can be sent',
    ({ sampling }) => (sampling.stop?.length ?? 0) > 5,
  ),
  image_url: refuse(URLS, (request) => hasUnreachable('image', request)),
  file_url: refuse(URLS, (request) => hasUnreachable('file', request)),
  effort_beside_budget: drop(
    'a reasoning budget is sent instead',
    ({ reasoning }) => reasoning?.effort !== undefined && reasoning.tokensMax !== undefined,
  ),
  ...usualBut('reasoning', {
    isUsed: (request) => asksForReasoning(request) && !geminiOf(request).reasons,
  }),
  ...usualBut('reasoning_off', {
    isUsed: (request) => asksForNoReasoning(request) && mayReason(request),
  }),
  ...usualBut('unasked_reasoning', {
    isUsed: (request) => request.hidesReasoning === true && mayReason(request),
  }),
  schema_constraints: drop('no model is bound to it', (request) =>
    unenforcedInAnswer(request).filter((keyword) => !KEYWORDS.has(keyword)),
  ),
}

function mayReason(request: Conversation): boolean {
  const { reasons, takesDisabled } = geminiOf(request)
  return reasons && !(asksForNoReasoning(request) && takesDisabled)
}

/** Whether something is at a URL from which the model would have to fetch it, and does not. */
function hasUnreachable(type: 'image' | 'file', { model, messages }: Conversation): boolean {
  return messages.some(({ parts }) =>
    parts.some(
      (part) =>
        part.type === type && part.source.type === 'url' && !takesUrl(model, part.source.url),
    ),
  )
}

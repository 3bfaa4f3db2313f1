// The scripted model as Google's Gemini of the third generation: every call carries a signature that must come back.
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { listOf, objectOf, stringOf } from '../../../src/core/json.ts'
import type { Part, Seen, Turn } from './plan.ts'
import { Issued, onlyKnown, Refusal, tokensIn } from './plan.ts'
import type { Answer, Speech } from './server.ts'

const signatures = new Issued()
const ids = new Issued()

export const gemini: Speech = { read, answer }

/** What Google takes for a call that somebody else made, or whose signature was lost. */
const UNSIGNED = 'skip_thought_signature_validator'

const CONFIG =
  'temperature topP topK candidateCount maxOutputTokens stopSequences seed presencePenalty frequencyPenalty ' +
  'responseMimeType responseSchema responseJsonSchema thinkingConfig responseLogprobs logprobs mediaResolution'

function read(body: JsonObject): Seen {
  onlyKnown(body, 'contents systemInstruction tools toolConfig generationConfig safetySettings', '')
  const generation = objectOf(body['generationConfig'])
  onlyKnown(generation, CONFIG, 'generationConfig.')
  const { responseMimeType, responseJsonSchema, responseSchema } = generation
  const schema = responseJsonSchema ?? responseSchema
  if (schema !== undefined && responseMimeType !== 'application/json')
    throw new Refusal(400, 'responseSchema needs responseMimeType: application/json')
  const functions = listOf(body['tools']).flatMap((tool) => {
    onlyKnown(objectOf(tool), 'functionDeclarations', 'tools.')
    return listOf(objectOf(tool)['functionDeclarations']).map(objectOf)
  })
  for (const each of functions) {
    onlyKnown(
      each,
      'name description parameters parametersJsonSchema response responseJsonSchema behavior',
      'tools.functionDeclarations.',
    )
    if (!/^[a-z_][\w:.-]{0,127}$/i.test(String(each['name'])))
      throw new Refusal(400, `Invalid function name ${String(each['name'])}`)
  }
  const calling = objectOf(objectOf(body['toolConfig'])['functionCallingConfig'])
  const [allowed] = listOf(calling['allowedFunctionNames'])
  return {
    parts: [
      ...textsOf(body['systemInstruction']),
      ...partsOf(listOf(body['contents']).map(objectOf)),
    ],
    tools: functions.map(({ name }) => String(name)),
    forced: calling['mode'] === 'ANY' ? String(allowed ?? functions[0]?.['name']) : undefined,
    schema,
  }
}

function textsOf(content: Json | undefined): Part[] {
  return listOf(objectOf(content)['parts'])
    .map((part) => stringOf(objectOf(part)['text']))
    .filter((text) => text !== undefined)
    .map((text) => ({ kind: 'text', text }))
}

function partsOf(contents: readonly JsonObject[]): Part[] {
  const turnStart = contents.findLastIndex(
    ({ role, parts }) =>
      role === 'user' && listOf(parts).some((part) => objectOf(part)['text'] !== undefined),
  )
  let open: string[] = []
  return contents.flatMap((content, index): Part[] => {
    const parts = listOf(content['parts']).map(objectOf)
    if (parts.length === 0) throw new Refusal(400, `contents[${index}].parts: must not be empty`)
    for (const part of parts)
      onlyKnown(
        part,
        'text thought thoughtSignature functionCall functionResponse inlineData fileData',
        `contents[${index}].parts.`,
      )
    if (content['role'] === 'model') {
      const calls = parts.filter((part) => part['functionCall'] !== undefined)
      open = calls.map((part) => String(objectOf(part['functionCall'])['name']))
      const [first] = calls
      if (first !== undefined && index > turnStart && first['thoughtSignature'] !== UNSIGNED)
        signatures.check(
          first['thoughtSignature'],
          `Function call in contents[${index}] is missing a thought_signature.`,
        )
      return [
        {
          kind: 'answer',
          text: textsOf(content)
            .map(({ text }) => text)
            .join(''),
        },
      ]
    }
    const results = parts.filter((part) => part['functionResponse'] !== undefined)
    const names = results.map((part) => String(objectOf(part['functionResponse'])['name']))
    if (names.toSorted().join(' ') !== open.toSorted().join(' '))
      throw new Refusal(
        400,
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    open = []
    return parts.flatMap((part): Part[] => {
      const { functionResponse, text } = part
      if (functionResponse !== undefined)
        return [{ kind: 'result', text: resultOf(objectOf(functionResponse)['response']) }]
      return typeof text === 'string' ? [{ kind: 'text', text }] : []
    })
  })
}

/** A result is an object; what was a text is in a member of it. */
function resultOf(response: Json | undefined): string {
  const values = Object.values(objectOf(response))
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(response)
}

function answer(body: JsonObject, turn: Turn): Answer {
  const config = objectOf(objectOf(body['generationConfig'])['thinkingConfig'])
  const thought: JsonObject[] =
    config['includeThoughts'] === true ? [{ text: 'Let me think.', thought: true }] : []
  const thoughtSignature = signatures.make('CiQ')
  const parts: JsonObject[] =
    'call' in turn
      ? [
          {
            functionCall: { id: ids.make('fc'), name: turn.call.name, args: turn.call.input },
            thoughtSignature,
          },
        ]
      : [...turn.words.map((text) => ({ text })), { text: '', thoughtSignature }]
  const whole: JsonObject[] =
    'call' in turn ? parts : [{ text: turn.words.join(''), thoughtSignature }]
  const usageMetadata = {
    promptTokenCount: tokensIn(body),
    candidatesTokenCount: tokensIn(turn),
    thoughtsTokenCount: 4,
    totalTokenCount: tokensIn(body) + tokensIn(turn) + 4,
  }
  const chunk = (list: readonly JsonObject[], finishReason?: string): JsonObject => ({
    candidates: [
      { content: { role: 'model', parts: list }, index: 0, ...(finishReason && { finishReason }) },
    ],
    usageMetadata,
    modelVersion: 'gemini-scripted',
    responseId: 'scripted',
  })
  const all = [...thought, ...parts]
  return {
    whole: chunk([...thought, ...whole], 'STOP'),
    events: all.map((part, index) => ({
      data: chunk([part], index === all.length - 1 ? 'STOP' : undefined),
    })),
    error: (message, code) => ({
      error: { code, message, status: code >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT' },
    }),
  }
}

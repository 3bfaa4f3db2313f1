// The scenes every client plays with every model: one conversation each, and what a user of the library must then see.
// Speakers declare what their library cannot do.
import assert from 'node:assert/strict'

import type { Format } from '../../src/core/endpoints.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type {
  Answer,
  Failure,
  Mode,
  Prompt,
  Result,
  Skill,
  Speaker,
  Tool,
  SdkClient,
} from './speaker.ts'
import { MODES } from './speaker.ts'

export type Upstream = 'chat' | 'responses' | 'messages'

/** One cell of the matrix, about to be played. */
export type Stage = {
  readonly speaker: Speaker
  readonly upstream: Upstream
  readonly mode: Mode
  /** A connection with the key that may do everything, or with one that may not. */
  clientOf(key: KeyName): SdkClient
  /** The same, with the reasoning altered in transit. */
  readonly tampering: SdkClient
  /** The headers of the last answer. */
  headers(): Headers
}

export type KeyName = 'good' | 'poor' | 'narrow' | 'limited' | 'wrong'

export type Scene = {
  readonly name: string
  readonly modes?: readonly Mode[]
  /** The skill the library needs for it. */
  readonly needs?: Skill
  play(stage: Stage): Promise<void>
}

const chat = ({ upstream }: Stage): string => modelAt('sandbox-chat', upstream)
const reasoner = ({ upstream }: Stage): string => modelAt('sandbox-reasoner', upstream)

function modelAt(model: string, upstream: Format): string {
  return upstream === 'chat' ? model : `${model}@${upstream}`
}

const PLACE: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const WEATHER: Tool = { name: 'get_weather', description: 'The weather in a city', schema: PLACE }
const TIME: Tool = { name: 'get_time', description: 'The time in a city', schema: PLACE }

const PERSON: JsonObject = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    languages: { type: 'array', items: { type: 'string' } },
  },
  required: ['name', 'age', 'languages'],
  additionalProperties: false,
}

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')

export const SCENES: readonly Scene[] = [
  {
    name: 'text',
    async play(stage) {
      const answer = await ask(stage, {
        model: chat(stage),
        system: 'Be brief.',
        text: 'Say Grüße 👋 and more',
      })
      assert.equal(answer.text, 'Grüße 👋 and more')
      assert.equal(answer.ending, 'stop')
      assert.equal(answer.model, chat(stage))
      assert.deepEqual(answer.calls, [])
      assert.equal(answer.thoughts, '')
      // Every word was counted, the system prompt's too, and before the answer began: some libraries ask then.
      assert.equal(answer.usage.input, tokensOf('Be brief.') + tokensOf('Say Grüße 👋 and more'))
      assert.match(stage.headers().get('x-request-id') ?? '', /^req_/)
    },
  },
  {
    name: 'usage',
    async play(stage) {
      const { usage } = await ask(stage, {
        model: reasoner(stage),
        text: 'Say hello',
        thinks: true,
      })
      assert.equal(usage.input, tokensOf('Say hello'))
      assert.ok(Number(usage.output) > 2)
      // "hello" has two tokens; the rest of the output is reasoning, if the library reports it.
      if (usage.reasoning !== undefined) assert.equal(usage.output, usage.reasoning + 2)
    },
  },
  {
    name: 'length',
    async play(stage) {
      const prompt = {
        model: chat(stage),
        text: '[[sandbox tokens=60]] Hello',
        outputTokensMax: 20,
      }
      const answer = await ask(stage, prompt)
      assert.equal(answer.ending, 'length')
      assert.equal(answer.usage.output, 20)
      assert.ok(answer.text.length > 40)
    },
  },
  {
    name: 'stop',
    needs: 'stop',
    async play(stage) {
      const prompt = { model: chat(stage), text: 'Say one two three', stop: ' three' }
      if (stage.upstream === 'responses') {
        const failure = await failureOf(stage, prompt)
        assert.equal(failure.status, 400, failure.message)
        assert.match(failure.message, /stop/)
        return
      }
      const answer = await ask(stage, prompt)
      assert.equal(answer.text, 'one two')
      assert.equal(answer.ending, 'stop')
    },
  },
  {
    name: 'tools',
    async play(stage) {
      const answer = await askForBoth(stage)
      assert.equal(answer.ending, 'tools')
      assert.deepEqual(
        answer.calls.map(({ name, input }) => [name, input]),
        [
          ['get_weather', { city: 'Paris' }],
          ['get_time', { city: 'Paris' }],
        ],
      )
      assert.equal(new Set(answer.calls.map(({ id }) => id)).size, 2)
    },
  },
  {
    name: 'forced',
    async play(stage) {
      const answer = await ask(stage, {
        model: chat(stage),
        text: 'Nothing about it, "Oslo"',
        tools: [WEATHER, TIME],
        forced: TIME.name,
      })
      assert.deepEqual(
        answer.calls.map(({ name, input }) => [name, input]),
        [['get_time', { city: 'Oslo' }]],
      )
      assert.equal(answer.ending, 'tools')
    },
  },
  {
    name: 'single',
    needs: 'single',
    async play(stage) {
      const answer = await askForBoth(stage, { single: true })
      assert.deepEqual(
        answer.calls.map(({ name }) => name),
        ['get_weather'],
      )
      assert.equal(answer.ending, 'tools')
    },
  },
  {
    name: 'results',
    async play(stage) {
      const first = await askForBoth(stage)
      const answer = await ask(stage, secondTurn({ model: chat(stage) }, first))
      assert.equal(
        answer.text,
        'The tool get_weather answered: “sunny” The tool get_time answered: “noon”',
      )
      assert.equal(answer.ending, 'stop')
    },
  },
  {
    name: 'schema',
    async play(stage) {
      const answer = await ask(stage, {
        model: chat(stage),
        text: 'A person: name is "Ann", age: 41',
        schema: PERSON,
      })
      const person = JSON.parse(answer.text) as Record<string, unknown>
      assert.deepEqual(Object.keys(person).toSorted(), ['age', 'languages', 'name'])
      assert.deepEqual([person['name'], person['age']], ['Ann', 41])
      assert.ok(Array.isArray(person['languages']))
      if (answer.parsed !== undefined && answer.parsed !== null)
        assert.deepEqual(answer.parsed, person)
    },
  },
  {
    name: 'image',
    async play(stage) {
      const answer = await ask(stage, { model: chat(stage), text: 'What is it?', image: PNG })
      const bytes = Buffer.from(PNG, 'base64').length
      assert.match(answer.text, new RegExp(`an image \\(image/png, ${bytes} bytes\\)`))
    },
  },
  {
    name: 'url',
    async play(stage) {
      const imageUrl = 'https://example.com/cat.png'
      const answer = await ask(stage, { model: chat(stage), text: 'What is it?', imageUrl })
      assert.match(answer.text, /the image at https:\/\/example\.com\/cat\.png/)
    },
  },
  {
    name: 'file',
    async play(stage) {
      const answer = await ask(stage, { model: chat(stage), text: 'What is it?', pdf: PDF })
      assert.match(answer.text, /the file .+ \(application\/pdf, 15 bytes\)/)
    },
  },
  {
    name: 'thinks',
    needs: 'thoughts',
    async play(stage) {
      const answer = await ask(stage, { model: reasoner(stage), text: 'Say hello', thinks: true })
      assert.equal(answer.text, 'hello')
      assert.match(answer.thoughts, THOUGHT)
      assert.equal(answer.ending, 'stop')
    },
  },
  {
    name: 'unasked',
    async play(stage) {
      const answer = await ask(stage, { model: reasoner(stage), text: 'Say hello' })
      assert.equal(answer.text, 'hello')
      if (stage.speaker.format !== 'messages') return
      assert.equal(answer.thoughts, '')
      const dropped = stage.headers().get('x-tollgate-dropped') ?? ''
      assert.equal(dropped.includes('thinking'), stage.upstream !== 'messages', dropped)
    },
  },
  {
    name: 'thinks on',
    async play(stage) {
      const thinking = { model: reasoner(stage), thinks: true } as const
      const first = await askForBoth(stage, thinking)
      const next = secondTurn(thinking, first)
      const answer = await ask(stage, next)
      assert.match(answer.text, /“sunny”.*“noon”/)
      assert.doesNotMatch(stage.headers().get('x-tollgate-dropped') ?? '', DROPPED_REASONING)
      if (stage.speaker.lacks?.['thoughts back'] !== undefined) return
      // The reasoning reached the model: altered, it is refused.
      const failure = await failed(stage.tampering, stage.mode, next)
      assert.equal(failure.status, 400, failure.message)
      assert.match(failure.message, /invalid signature/)
    },
  },
  ...refusals(),
  {
    name: 'error',
    modes: ['streamed'],
    async play(stage) {
      const text = '[[sandbox tokens=60 cut=10 error=529]] Hello'
      const failure = await failureOf(stage, { model: chat(stage), text })
      assert.match(failure.message, /sandbox was asked to fail/)
      assertCode(failure, 'provider_overloaded', stage)
    },
  },
  {
    name: 'cut',
    async play(stage) {
      const failure = await failureOf(stage, {
        model: chat(stage),
        text: '[[sandbox tokens=60 cut=10]] Hello',
      })
      if (stage.mode === 'plain') assert.equal(failure.status, 502, failure.message)
      assert.match(failure.message, /provider/)
      assertCode(failure, 'provider_failed', stage)
    },
  },
]

/** A library that keeps only what OpenAI describes of a failed response reports OpenAI's code, and not the one beside it. */
function assertCode({ code }: Failure, own: string, { speaker, mode }: Stage): void {
  const isOpenAis = speaker.format === 'responses' && mode === 'streamed' && code === 'server_error'
  assert.equal(isOpenAis ? own : code, own)
}

/** Counts like the sandbox. */
function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/** The sandbox's reasoning about any message. */
const THOUGHT = /^The last message has \d+ words\./

/** The names under which returned reasoning is reported as dropped. */
const DROPPED_REASONING = /messages\.reasoning_details|input\.reasoning|messages\.content\.thinking/

/** Refusals of the gateway before the first byte: the request, the key, and what the client must learn. */
function refusals(): readonly Scene[] {
  const cases: readonly {
    readonly name: string
    readonly key?: KeyName
    readonly text?: string
    readonly status: number
    readonly code: string
  }[] = [
    { name: '400', text: '[[sandbox error=400]]', status: 400, code: 'invalid_request' },
    { name: '401', key: 'wrong', status: 401, code: 'invalid_api_key' },
    { name: '402', key: 'poor', status: 402, code: 'key_budget_exceeded' },
    { name: '403', key: 'narrow', status: 403, code: 'model_not_allowed' },
    { name: '429', key: 'limited', status: 429, code: 'rate_limit_exceeded' },
    {
      name: 'p429',
      text: '[[sandbox error=429]]',
      status: 429,
      code: 'provider_rate_limited',
    },
    { name: 'p500', text: '[[sandbox error=500]]', status: 502, code: 'provider_failed' },
    {
      name: 'p529',
      text: '[[sandbox error=529]]',
      status: 503,
      code: 'provider_overloaded',
    },
  ]
  return cases.map(({ name, key = 'good', text = 'Hello', status, code }) => ({
    name,
    async play(stage) {
      const prompt = { model: chat(stage), text }
      const client = stage.clientOf(key)
      const refused = key === 'limited' ? failedAtLast : failed
      const failure = await refused(client, stage.mode, prompt)
      assert.equal(failure.status, status, failure.message)
      assert.equal(failure.code, code)
      assert.notEqual(failure.message, '')
    },
  }))
}

function ask(stage: Stage, prompt: Prompt): Promise<Answer> {
  return stage.clientOf('good').ask(prompt, stage.mode)
}

function askForBoth(stage: Stage, more: Partial<Prompt> = {}): Promise<Answer> {
  const text = 'Call get_weather and get_time, city: Paris'
  return ask(stage, { model: chat(stage), text, tools: [WEATHER, TIME], ...more })
}

function secondTurn(same: Pick<Prompt, 'model' | 'thinks'>, answer: Answer): Prompt {
  const results = answer.calls.map((call): Result => ({
    call,
    text: call.name === WEATHER.name ? 'sunny' : 'noon',
  }))
  return { ...same, text: '', tools: [WEATHER, TIME], after: { answer, results } }
}

function failureOf(stage: Stage, prompt: Prompt): Promise<Failure> {
  return failed(stage.clientOf('good'), stage.mode, prompt)
}

async function failed(client: SdkClient, mode: Mode, prompt: Prompt): Promise<Failure> {
  const outcome = await client.ask(prompt, mode).then(
    (answer) => ({ answer }),
    (thrown: unknown) => ({ thrown }),
  )
  assert.ok('thrown' in outcome, `no error, but ${JSON.stringify(outcome)}`)
  return client.failureOf(outcome.thrown)
}

/** The limit is one call per minute: if one passes, the next does not. */
async function failedAtLast(client: SdkClient, mode: Mode, prompt: Prompt): Promise<Failure> {
  return client.ask(prompt, mode).then(
    () => failed(client, mode, prompt),
    (thrown: unknown) => client.failureOf(thrown),
  )
}

export function modesOf(scene: Scene): readonly Mode[] {
  return scene.modes ?? MODES
}

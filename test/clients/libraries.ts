// The libraries for JavaScript, through the speakers of the matrix, with only the address and the key set.
import { readFileSync } from 'node:fs'

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'

import type { Json, JsonObject } from '../../src/core/json.ts'
import { objectOf } from '../../src/core/json.ts'
import type { Answer, Failure, Line, Speaker, SdkClient } from '../matrix/speaker.ts'
import { AI_SDK_SPEAKERS } from '../matrix/speakers/ai-sdk.ts'
import { anthropicMessages } from '../matrix/speakers/anthropic.ts'
import { LANGCHAIN_SPEAKERS } from '../matrix/speakers/langchain.ts'
import { openaiChat } from '../matrix/speakers/openai-chat.ts'
import { openaiResponses } from '../matrix/speakers/openai-responses.ts'
import { previousAnthropic, PreviousOpenAI } from '../matrix/speakers/previous.ts'
import type { Facts, Job, SceneName } from './scenes.ts'
import type { Family } from './upstream/server.ts'

const newest = ({ url, key, fetch }: Line): Anthropic =>
  new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, fetch })

type Library = { readonly speaker: Speaker; readonly name: string; readonly folder: string }

export const LIBRARIES: readonly Library[] = [
  ...(['by hand', 'helpers'] as const).flatMap((style) => {
    const suffix = style === 'helpers' ? ', helpers' : ''
    return [
      {
        speaker: openaiChat('', OpenAI, style),
        name: `openai-node, chat${suffix}`,
        folder: 'openai',
      },
      {
        speaker: openaiResponses('', OpenAI, style),
        name: `openai-node, responses${suffix}`,
        folder: 'openai',
      },
      {
        speaker: anthropicMessages('', { connect: newest, style }),
        name: `anthropic-node${suffix}`,
        folder: '@anthropic-ai/sdk',
      },
    ]
  }),
  {
    speaker: openaiChat('', PreviousOpenAI, 'helpers'),
    name: 'openai-node, chat',
    folder: 'openai-6',
  },
  {
    speaker: openaiResponses('', PreviousOpenAI, 'helpers'),
    name: 'openai-node, responses',
    folder: 'openai-6',
  },
  {
    speaker: anthropicMessages('', { connect: previousAnthropic, style: 'helpers' }),
    name: 'anthropic-node',
    folder: 'anthropic-sdk-0',
  },
  ...AI_SDK_SPEAKERS.map((speaker) => ({
    speaker,
    name: `ai-sdk, ${speaker.format}`,
    folder: 'ai',
  })),
  ...LANGCHAIN_SPEAKERS.map((speaker) => ({
    speaker,
    name: `langchain-js, ${speaker.format}`,
    folder: speaker.format === 'messages' ? '@langchain/anthropic' : '@langchain/openai',
  })),
]

const LOOKUP: JsonObject = {
  type: 'object',
  properties: { place: { type: 'string' } },
  required: ['place'],
  additionalProperties: false,
}
const PERSON: JsonObject = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}
const TOOLS = [
  { name: 'lookup', description: 'What there is to know about a place', schema: LOOKUP },
]

/** Plays one scene with one library. */
export async function playLibrary(
  { speaker, name, folder }: Library,
  scene: SceneName,
  { upstream, job }: { readonly upstream: string; readonly job: Job },
): Promise<Facts> {
  const { models, url } = job
  const model = models[familyOf(name, speaker)][upstream] ?? ''
  const connect = (key: string): SdkClient => speaker.connect({ url, key, fetch })
  const seen = await PLAYED[scene](connect, model, job).catch((error: unknown) => ({
    thrown: String(error),
  }))
  return { client: name, version: versionOf(folder), upstream, scene, ...seen }
}

/** LangChain.js calls models that it knows over responses alone, even where it is told not to. */
function familyOf(name: string, { format }: Speaker): Family {
  if (name === 'langchain-js, chat') return 'none'
  return format === 'messages' ? 'claude' : 'gpt'
}

type Connect = (key: string) => SdkClient
type Seen = Omit<Facts, 'client' | 'version' | 'upstream' | 'scene'>

const PLAYED: Record<SceneName, (connect: Connect, model: string, job: Job) => Promise<Seen>> = {
  async stream(connect, model, { key, prompts }) {
    const { text, usage } = await connect(key).ask({ model, text: prompts.stream }, 'streamed')
    return { text, input: usage.input ?? 0, output: usage.output ?? 0 }
  },

  async tools(connect, model, job) {
    const places: string[] = []
    const once = async (thinks: boolean): Promise<string> => {
      const same = { model, tools: TOOLS, ...(thinks && { thinks: true as const }) }
      const client = connect(job.key)
      let answer: Answer = await client.ask({ ...same, text: job.prompts.tools }, 'plain')
      for (let turn = 1; answer.calls.length > 0 && turn < 9; turn++) {
        const results = answer.calls.map((call) => {
          const place = String(objectOf(call.input)['place'])
          places.push(place)
          return { call, text: job.results[place as keyof typeof job.results] }
        })
        const mode = turn % 2 === 0 ? 'plain' : 'streamed'
        answer = await client.ask({ ...same, text: '', after: { answer, results } }, mode)
      }
      return answer.text
    }
    const texts = [await once(false), await once(true)]
    return { places, text: texts[0] === texts[1] ? String(texts[0]) : texts.join(' / ') }
  },

  async object(connect, model, { key, prompts }) {
    const { text } = await connect(key).ask(
      { model, text: prompts.object, schema: PERSON },
      'plain',
    )
    return { object: JSON.parse(text) as Json }
  },

  async error(connect, model, { key, prompts }) {
    const attempts = {
      refused: { text: prompts.refused },
      overloaded: { text: prompts.overloaded },
      midway: { text: prompts.midway, mode: 'streamed' as const },
      key: { text: 'Hello', with: 'tg_live_wrong' },
      model: { text: 'Hello', model: 'no-such-model' },
    }
    const failures: Record<string, Failure | { readonly answer: string }> = {}
    for (const [name, attempt] of Object.entries(attempts)) {
      const {
        text,
        mode = 'plain',
        with: other = key,
        model: asked = model,
      } = {
        mode: undefined,
        with: undefined,
        model: undefined,
        ...attempt,
      }
      const client = connect(other)
      failures[name] = await client.ask({ model: asked, text }, mode).then(
        (answer) => ({ answer: answer.text }),
        (error: unknown) => client.failureOf(error),
      )
    }
    return { failures }
  },
}

function versionOf(folder: string): string {
  const file = new URL(`../../node_modules/${folder}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

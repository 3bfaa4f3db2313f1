// What every client does with every upstream format: a stream, a loop of three tool calls, an object of a schema, and
// errors. A client reports the facts that its user sees; here they are judged.
import { isDeepStrictEqual } from 'node:util'

import type { Family } from './upstream/server.ts'
import { FAMILIES, modelName, UPSTREAMS } from './upstream/server.ts'
import { written } from './upstream/plan.ts'

export const SCENES = ['stream', 'tools', 'object', 'error'] as const
export type SceneName = (typeof SCENES)[number]

/** One cell of the table. */
export type Facts = {
  readonly client: string
  readonly version: string
  readonly upstream: string
  readonly scene: SceneName
  /** The client has no such thing, and why. */
  readonly lacks?: string
  /** What the client threw where it should not have. */
  readonly thrown?: string
  readonly text?: string
  /** In how many pieces the text came; not every client shows them. */
  readonly pieces?: number
  readonly input?: number
  readonly output?: number
  /** What the tool was asked for. */
  readonly places?: readonly string[]
  readonly object?: unknown
  readonly failures?: Readonly<Record<string, Failure>>
}

export type Failure = {
  readonly status?: number | null | undefined
  readonly message?: string
  /** What it answered instead of failing. */
  readonly answer?: string
}

const WORDS = 'one two three four five six'
const RESULTS = { Rome: 'warm', Oslo: 'cold', Lima: 'mild' }
const PERSON = { name: 'Ann', age: 41 }

export const PROMPTS = {
  stream: `Count to six. ${written({ say: WORDS })}`,
  tools: `Look up three places. ${written({
    say: 'Looked up:',
    calls: Object.keys(RESULTS).map((place) => ({ name: 'lookup', input: { place } })),
  })}`,
  object: `Who is it? ${written({ object: PERSON })}`,
  refused: `Fail. ${written({ fail: 400 })}`,
  overloaded: `Fail. ${written({ fail: 503 })}`,
  midway: `Break off. ${written({ say: WORDS, fail: 'midway' })}`,
}

export type Job = ReturnType<typeof jobFor>

export function jobFor(url: string, key: string) {
  const named = (family: Family) =>
    Object.fromEntries(UPSTREAMS.map((upstream) => [upstream, modelName(family, upstream)]))
  return {
    url,
    key,
    prompts: PROMPTS,
    results: RESULTS,
    models: { gpt: named('gpt'), claude: named('claude'), none: named('none') },
  }
}

export const MODELS = (Object.keys(FAMILIES) as Family[]).flatMap((family) =>
  UPSTREAMS.map((upstream) => modelName(family, upstream)),
)

/** The status of each failure where the client knows it, and what its message says. */
const FAILURES: Readonly<Record<string, readonly [status: number | undefined, message: RegExp]>> = {
  refused: [400, /planned failure/],
  overloaded: [503, /overloaded/],
  midway: [undefined, /provider/],
  key: [401, /API key/],
  model: [403, /no-such-model/],
}

/** What is wrong with a cell; nothing when it passes. */
export function problemsOf(facts: Facts): string[] {
  const { scene, lacks, thrown, text, pieces = 6, input = 1, output = 1, places, failures } = facts
  if (lacks !== undefined) return []
  if (thrown !== undefined) return [thrown]
  const wrong: string[] = []
  const expect = (name: string, value: unknown, wanted: unknown): void => {
    if (!isDeepStrictEqual(value, wanted))
      wrong.push(`${name} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`)
  }
  switch (scene) {
    case 'stream':
      expect('the text', text, WORDS)
      if (pieces < 6) wrong.push(`it came in ${pieces} pieces`)
      if (input <= 0 || output <= 0) wrong.push(`${input} tokens in, ${output} out`)
      break
    case 'tools': {
      const all = Object.keys(RESULTS)
      // Some play the loop twice: whole and streamed.
      expect('the places', places?.slice(0, 3), all)
      if (places?.length !== 3) expect('the places', places, [...all, ...all])
      expect('the text', text, 'Looked up: [warm] [cold] [mild]')
      break
    }
    case 'object':
      expect('the object', facts.object, PERSON)
      break
    case 'error':
      for (const [name, [status, message]] of Object.entries(FAILURES)) {
        const failure = failures?.[name]
        if (failure === undefined) continue
        if (failure.message === undefined) wrong.push(`${name}: no error, but ${failure.answer}`)
        else if (!message.test(failure.message) || (status && failure.status !== status))
          wrong.push(`${name}: ${JSON.stringify(failure)}`)
      }
  }
  return wrong
}

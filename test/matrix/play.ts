// Plays every scene with some speakers, on every upstream format, plain and streamed: one test per cell, named so that
// scripts/matrix.ts can print them as a table.
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import type { KeyName, Scene, Stage, Upstream } from './scenes.ts'
import { modesOf, SCENES } from './scenes.ts'
import type { Speaker } from './speaker.ts'

export const UPSTREAMS: readonly Upstream[] = ['chat', 'responses', 'messages']

const MODELS = ['sandbox-chat', 'sandbox-reasoner']
  .flatMap((model) => [model, `${model}@responses`, `${model}@messages`])
  .join(',')

export type Play = {
  readonly speakers: readonly Speaker[]
  /** Speakers that play only a few scenes, as a smoke test. */
  readonly smoke?: readonly Speaker[]
  /** The text of a tollgate.yaml. */
  readonly config?: string
}

const SMOKE = SCENES.filter(({ name }) =>
  ['text', 'tools', 'results', 'schema', '401', 'cut'].includes(name),
)

export function play({ speakers, smoke = [], config }: Play): void {
  let gateway: TestGateway
  let keys: Record<KeyName, string>
  before(async () => {
    gateway = await startGateway(config === undefined ? {} : { config })
    const [good, poor, narrow, limited] = await Promise.all([
      gateway.key('good', MODELS, '--budget', 'none'),
      gateway.key('poor', MODELS, '--budget', '0'),
      gateway.key('narrow', 'sandbox-embedding'),
      gateway.key('limited', MODELS, '--rpm', '1'),
    ])
    keys = { good, poor, narrow, limited, wrong: 'tg_live_wrong' }
  })
  after(() => gateway.stop())

  const stageFor = (cell: Pick<Stage, 'speaker' | 'upstream' | 'mode'>): Stage => {
    let headers = new Headers()
    const tap = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(input, init)
      headers = response.headers
      return response
    }
    const tamper = (...[input, init]: Parameters<typeof fetch>): Promise<Response> =>
      tap(input, { ...init, body: altered(String(init?.body)) })
    const connect = (key: KeyName, through: typeof fetch) =>
      cell.speaker.connect({ url: gateway.url, key: keys[key], fetch: through })
    return {
      ...cell,
      clientOf: (key) => connect(key, tap),
      tampering: connect('good', tamper),
      headers: () => headers,
    }
  }

  const playAll = (speaker: Speaker, scenes: readonly Scene[]): void => {
    void describe(speaker.name, () => {
      for (const upstream of UPSTREAMS)
        for (const scene of scenes)
          for (const mode of modesOf(scene)) {
            if (scene.needs !== undefined && speaker.lacks?.[scene.needs] !== undefined) continue
            test(`${speaker.name} → ${upstream}: ${scene.name}, ${mode}`, () =>
              scene.play(stageFor({ speaker, upstream, mode })))
          }
    })
  }
  for (const speaker of speakers) playAll(speaker, SCENES)
  for (const speaker of smoke) playAll(speaker, SMOKE)
}

/** The request body, with a word changed in all its reasoning. */
function altered(body: string): string {
  return body.replaceAll('The last message has', 'The last massage has')
}

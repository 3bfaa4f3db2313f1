// Every library for JavaScript against a scripted model in every upstream format, Gemini's too: a stream, a loop of
// three tool calls without and with reasoning, an object of a schema, and errors. `npm run clients` has the others.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { TestGateway } from '../support/gateway.ts'
import { startGateway } from '../support/gateway.ts'
import { LIBRARIES, playLibrary } from './libraries.ts'
import type { Job } from './scenes.ts'
import { jobFor, MODELS, problemsOf, SCENES } from './scenes.ts'
import { configFor, startUpstream, UPSTREAMS } from './upstream/server.ts'

describe('libraries', () => {
  let upstream: Awaited<ReturnType<typeof startUpstream>>
  let gateway: TestGateway
  let job: Job
  before(async () => {
    upstream = await startUpstream()
    gateway = await startGateway({ config: configFor(upstream.url) })
    job = jobFor(gateway.url, await gateway.key('libraries', MODELS.join(','), '--budget', 'none'))
  })
  after(async () => {
    await gateway.stop()
    await upstream[Symbol.asyncDispose]()
  })

  for (const library of LIBRARIES)
    for (const format of UPSTREAMS)
      for (const scene of SCENES)
        test(`${library.name} (${library.folder}) over ${format}: ${scene}`, async () => {
          const facts = await playLibrary(library, scene, { upstream: format, job })
          assert.deepEqual(problemsOf(facts), [])
        })
})
